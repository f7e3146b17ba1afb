#include "tests/model/generator.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/model/random.h"

namespace casement::model {
namespace {

using engine::AggregateSpec;
using engine::FieldType;
using engine::Function;
using engine::kMaxEventTime;
using engine::kMinEventTime;
using engine::ScalarValue;
using engine::SourceState;
using engine::StreamSpec;
using engine::TimeUs;
using engine::ViewSpec;
using engine::WindowKind;

// The longest span that a Duration can say.
constexpr int64_t kLongest = 315'576'000'000 * int64_t{1'000'000} + 999'999;

class Generator {
 public:
  Generator(uint64_t seed, const Shape& shape) : random_(seed), shape_(shape) {}

  Script Run() {
    PickTimes();
    MakeStream();
    const int views = static_cast<int>(random_.Between(1, 4));
    for (int i = 0; i < views; ++i) views_.push_back(MakeView());
    MakeSteps();
    return std::move(script_);
  }

 private:
  // -- The frame

  void PickTimes() {
    unit_ = random_.Pick<int64_t>(
        {1, 7, 1000, 1'000'000, 60'000'000, 3'600'000'000, 86'400'000'000});
    const std::vector<TimeUs> bases = {
        1'780'000'000'000'000,      // 2026
        1'780'000'000'000'000 + 1,  //
        0,
        -200'000'000'000'000,  // 1963
        kMinEventTime,
        kMaxEventTime - 40 * unit_,
        kMinEventTime + 100 * unit_,
    };
    now_ = random_.OneIn(2) ? bases[0] : random_.Pick(bases);
    disorder_ = random_.Pick<int64_t>({0, 2, 10, 60});
    keys_ = random_.Pick<int64_t>({1, 2, 3, 5, 40});
    odd_doubles_ = random_.OneIn(3);
    // Only values whose sums overflow on the way.
    greatest_doubles_ = random_.OneIn(12);
    // Producers that often say that they are idle, back, or gone.
    moody_ = random_.OneIn(4);
    huge_integers_ = random_.OneIn(3);
    long_keys_ = random_.OneIn(20);
    // Events a batch, at most: now and then so many that tables grow.
    wide_ = random_.OneIn(25) ? 300 : 12;
    with_clock_ = !shape_.cuttable && random_.OneIn(3);
  }

  void MakeStream() {
    StreamSpec& spec = script_.spec;
    const int fields = static_cast<int>(random_.Between(0, 6));
    for (int i = 0; i < fields; ++i) {
      const auto type = static_cast<FieldType>(random_.Between(1, 5));
      spec.fields.push_back(
          {absl::StrCat("f", i), type, /*required=*/random_.OneIn(8)});
    }
    engine::WatermarkSpec& watermark = spec.watermark;
    if (random_.OneIn(4)) {
      watermark.source = engine::WatermarkSource::kAsserted;
    } else {
      watermark.max_delay_us = random_.Coin() ? 0 : Units(0, 20);
      if (random_.OneIn(60)) watermark.max_delay_us = kLongest;
    }
    if (random_.OneIn(4)) watermark.combine = engine::Combine::kGreatest;
    if (!shape_.cuttable && random_.OneIn(4)) {
      watermark.advance = engine::Advance::kAfterEachBatch;
    }
    watermark.future_action =
        static_cast<engine::FutureAction>(random_.Between(1, 3));
    watermark.max_future_skew_us = random_.OneIn(30) ? kLongest : Units(0, 20);
    if (!shape_.cuttable && random_.OneIn(8)) {
      spec.invalid_event_policy = engine::InvalidEventPolicy::kRejectBatch;
    }
    const int producers = static_cast<int>(random_.Between(1, 4));
    for (int i = 0; i < producers; ++i) {
      producers_.push_back(absl::StrCat("p", i));
      if (watermark.combine == engine::Combine::kLeastOverProducers &&
          random_.OneIn(moody_ ? 2 : 6)) {
        watermark.required_producers.push_back(producers_.back());
      }
    }
  }

  ViewSpec MakeView() {
    ViewSpec view;
    MakeWindow(&view.window);
    const auto& fields = script_.spec.fields;
    if (!fields.empty()) {
      const int groups = static_cast<int>(random_.Between(0, 3));
      for (int i = 0; i < groups; ++i) {
        const std::string& field = random_.Pick(fields).name;
        if (std::count(view.group_by.begin(), view.group_by.end(), field) == 0)
          view.group_by.push_back(field);
      }
    }
    MakeAggregates(&view);
    if (random_.Coin()) {
      view.allowed_lateness_us =
          random_.OneIn(5) ? 1 : Units(1, random_.Coin() ? 5 : 40);
      if (random_.OneIn(40)) view.allowed_lateness_us = kLongest;
    }
    if (random_.OneIn(3)) {
      view.late_rule = engine::LateRule::kBehindWatermark;
    }
    if (random_.OneIn(3)) {
      view.session_late_check = engine::SessionLateCheck::kOwn;
    }
    view.trigger.early_every_batch = random_.OneIn(2);
    view.trigger.on_time = !random_.OneIn(3);
    view.trigger.late_each_change = !random_.OneIn(4);
    if (random_.OneIn(3)) {
      view.late_event_policy = engine::LateEventPolicy::kCount;
    }
    return view;
  }

  void MakeWindow(engine::WindowSpec* window) {
    window->kind = static_cast<WindowKind>(random_.Between(1, 3));
    if (window->kind == WindowKind::kSession) {
      window->gap_us = Units(1, 12) + Nudge();
      if (window->gap_us < 1) window->gap_us = 1;
      if (random_.OneIn(40)) window->gap_us = kLongest;
      if (random_.Coin()) window->gap_rule = engine::GapRule::kExclusive;
      return;
    }
    window->size_us = std::max<int64_t>(1, Units(1, 20) + Nudge());
    if (random_.OneIn(40)) window->size_us = kLongest;
    window->period_us = window->size_us;
    if (window->kind == WindowKind::kSliding) {
      const int64_t size = window->size_us;
      const std::vector<int64_t> periods = {
          size / random_.Between(2, 6),  // often divides
          Units(1, 20) + Nudge(),        // anything, also above the size
          size - 1, size + 1, size};
      const int64_t most = random_.OneIn(10) ? 60 : 8;  // windows an event
      window->period_us = std::max<int64_t>(
          {1, random_.Pick(periods), (size + most - 1) / most});
    }
    if (random_.Coin()) {
      window->offset_us = random_.Between(0, window->period_us - 1);
    }
  }

  void MakeAggregates(ViewSpec* view) {
    view->aggregates.push_back({"a0", Function::kCount, ""});
    const auto& fields = script_.spec.fields;
    if (fields.empty()) return;
    const int more = static_cast<int>(random_.Between(0, 5));
    for (int i = 1; i <= more; ++i) {
      const engine::FieldSpec& field = random_.Pick(fields);
      const bool number =
          field.type == FieldType::kInt64 || field.type == FieldType::kDouble;
      const Function function =
          number
              ? random_.Pick<Function>(
                    {Function::kCount, Function::kSum, Function::kMin,
                     Function::kMax, Function::kMean, Function::kDistinctCount})
              : random_.Pick<Function>(
                    {Function::kCount, Function::kDistinctCount});
      view->aggregates.push_back({absl::StrCat("a", i), function, field.name});
    }
  }

  // -- The steps

  void MakeSteps() {
    std::vector<size_t> to_create;
    for (size_t i = 0; i < views_.size(); ++i) {
      if (shape_.cuttable || random_.OneIn(2)) {
        CreateView(i);
      } else {
        to_create.push_back(i);
      }
    }
    std::vector<std::string> to_open = producers_;
    Open(&to_open);
    while (shape_.cuttable && !to_open.empty()) Open(&to_open);
    int batches = static_cast<int>(random_.Between(2, shape_.max_batches));
    if (wide_ > 12) batches = std::min(batches, 8);
    // More than the answers that are remembered of a producer.
    if (wide_ <= 12 && random_.OneIn(40)) {
      wide_ = 1;
      batches = 4 * engine::kRememberedAnswers;
    }
    for (int i = 0; i < batches; ++i) {
      if (!to_open.empty() && random_.OneIn(3)) Open(&to_open);
      if (!to_create.empty() && random_.OneIn(6)) {
        CreateView(to_create.back());
        to_create.pop_back();
      }
      if (!shape_.cuttable && random_.OneIn(40)) {
        script_.steps.emplace_back(DeleteViewStep{
            ViewId(random_.Between(0, static_cast<int>(views_.size()) - 1))});
      }
      if (!shape_.cuttable && random_.OneIn(25)) {
        script_.steps.emplace_back(OpenStep{random_.Pick(producers_)});
      }
      if (!shape_.cuttable && random_.OneIn(120)) {
        script_.steps.emplace_back(EndStep{});
      }
      MakeBatch();
    }
    if (shape_.cuttable || random_.Coin()) {
      script_.steps.emplace_back(EndStep{});
      if (!shape_.cuttable && random_.Coin()) MakeBatch();
    }
  }

  static std::string ViewId(int64_t i) { return absl::StrCat("v", i); }

  void CreateView(size_t i) {
    engine::ViewDefinition definition;
    definition.id = ViewId(static_cast<int64_t>(i));
    definition.spec = views_[i];
    definition.display_name = "a view";
    definition.labels["team"] = "water";
    definition.create_time = now_;
    script_.steps.emplace_back(CreateViewStep{std::move(definition)});
  }

  void Open(std::vector<std::string>* to_open) {
    if (to_open->empty()) return;
    opened_.push_back(to_open->back());
    script_.steps.emplace_back(OpenStep{to_open->back()});
    to_open->pop_back();
  }

  void MakeBatch() {
    BatchStep step;
    step.producer = random_.Pick(opened_);
    step.layout = random_.Bits();
    if (with_clock_ && !random_.OneIn(6)) {
      step.arrival = Clamped(now_ + Units(-20, 40));
      clock_ = step.arrival;
    }
    const int events = random_.OneIn(moody_ ? 2 : 6)
                           ? 0
                           : static_cast<int>(random_.Between(1, wide_));
    for (int i = 0; i < events; ++i) step.events.push_back(MakeEvent());
    if (random_.OneIn(25)) {
      for (ScriptEvent& event : step.events) {
        event.bad = engine::RejectReason::kInvalidTime;
      }
    }
    const bool asserts =
        script_.spec.watermark.source == engine::WatermarkSource::kAsserted;
    if (random_.OneIn(asserts ? 2 : 7)) step.asserted = MakeAssertion();
    if (random_.OneIn(moody_ ? 2 : 8)) {
      step.state = random_.OneIn(4)   ? SourceState::kDone
                   : random_.OneIn(2) ? SourceState::kActive
                                      : SourceState::kIdle;
    }
    if (random_.OneIn(6)) {
      step.position = std::string(random_.Between(0, 9), 'p');
    }
    const bool silent = step.events.empty() && !step.asserted &&
                        step.state == SourceState::kUnchanged;
    if (silent && !random_.OneIn(10)) {
      step.asserted = MakeAssertion();
    }
    if (!shape_.cuttable && random_.OneIn(5)) {
      step.twist = static_cast<Twist>(random_.Between(1, 5));
    }
    script_.steps.emplace_back(std::move(step));
  }

  ScriptEvent MakeEvent() {
    ScriptEvent event;
    if (random_.OneIn(shape_.cuttable ? 30 : 60)) {
      event.bad = random_.Pick<engine::RejectReason>(
          {engine::RejectReason::kMissingTime,
           engine::RejectReason::kTimeOutOfRange,
           engine::RejectReason::kWrongType, engine::RejectReason::kNotUtf8});
    }
    event.time = MakeTime();
    for (const engine::FieldSpec& field : script_.spec.fields) {
      if (!field.required && random_.OneIn(7)) {
        event.values.emplace_back();
      } else {
        event.values.push_back(MakeValue(field.type));
      }
    }
    return event;
  }

  // -- Times

  int64_t Units(int64_t least, int64_t most) {
    const int64_t whole = random_.Between(least, most) * unit_;
    // Now and then not a whole number of units.
    if (unit_ > 7 && random_.OneIn(4)) return whole + unit_ / 3;
    return whole;
  }
  int64_t Nudge() { return random_.OneIn(5) ? random_.Between(-1, 1) : 0; }
  static TimeUs Clamped(__int128 time) {
    return static_cast<TimeUs>(
        std::clamp<__int128>(time, kMinEventTime, kMaxEventTime));
  }

  TimeUs MakeTime() {
    if (random_.OneIn(3)) now_ = Clamped(now_ + Units(0, 4));
    __int128 time = now_ - (random_.OneIn(2) ? Units(0, disorder_) : 0);
    if (random_.OneIn(4)) time = Edge(time);
    if (random_.OneIn(60)) time = now_ - Units(50, 500);
    if (random_.OneIn(200)) time = now_ + Units(50, 500);
    if (random_.OneIn(30) && clock_.has_value()) {
      // At the future guard.
      time = static_cast<__int128>(*clock_) +
             script_.spec.watermark.max_future_skew_us + random_.Between(-1, 1);
    }
    if (!times_.empty() && random_.OneIn(8)) {
      // Again at a time that was there, most often a recent one.
      time = random_.Coin() ? Recent() : random_.Pick(times_);
    }
    if (random_.OneIn(500))
      time = random_.Coin() ? kMinEventTime : kMaxEventTime;
    times_.push_back(Clamped(time));
    return times_.back();
  }

  // Near `time`, but where some view decides.
  __int128 Edge(__int128 time) {
    const engine::WindowSpec& window = random_.Pick(views_).window;
    const int64_t nudge = random_.Between(-1, 1);
    if (window.kind == WindowKind::kSession) {
      const __int128 from = times_.empty() ? time : Recent();
      return from + (random_.Coin() ? window.gap_us : -window.gap_us) + nudge;
    }
    const __int128 since = time - window.offset_us;
    const __int128 start =
        time -
        ((since % window.period_us) + window.period_us) % window.period_us;
    return start + (random_.Coin() ? window.size_us : 0) + nudge;
  }

  TimeUs Recent() {
    const auto size = static_cast<int64_t>(times_.size());
    return times_[size - random_.Between(1, std::min<int64_t>(size, 6))];
  }

  TimeUs MakeAssertion() {
    __int128 time = now_ - (random_.Coin() ? Units(0, 10) : 0);
    if (random_.Coin()) {
      // Where a window closes or becomes final.
      time = Edge(now_ - Units(0, 20));
      if (random_.Coin()) time += random_.Pick(views_).allowed_lateness_us;
    }
    if (random_.OneIn(40)) time = now_ + Units(10, 100);
    return Clamped(time);
  }

  // -- Values

  ScalarValue MakeValue(FieldType type) {
    switch (type) {
      case FieldType::kInt64:
        if (huge_integers_ && random_.Coin()) {
          return random_.Pick<int64_t>({std::numeric_limits<int64_t>::max(),
                                        std::numeric_limits<int64_t>::min(),
                                        std::numeric_limits<int64_t>::max() - 1,
                                        (int64_t{1} << 53) + 1,
                                        -(int64_t{1} << 62)});
        }
        return random_.Between(-1, keys_);
      case FieldType::kDouble:
        return MakeDouble();
      case FieldType::kBool:
        return random_.Coin();
      case FieldType::kString:
        return MakeString();
      case FieldType::kBytes:
        return engine::Bytes{MakeString()};
    }
    return std::monostate();
  }

  double MakeDouble() {
    if (greatest_doubles_) {
      return random_.Pick<double>({1.7e308, -1.7e308, 1e308, -1e308, 0.5});
    }
    if (odd_doubles_ && random_.OneIn(3)) {
      const double infinity = std::numeric_limits<double>::infinity();
      return random_.Pick<double>(
          {-0.0, 0.0, std::numeric_limits<double>::quiet_NaN(),
           -std::numeric_limits<double>::quiet_NaN(), infinity, -infinity,
           5e-324, -5e-324, 1.7e308, -1.7e308, 1e16, -1e16, 1e-20, 1.0 / 3,
           4503599627370497.5, 1e300, -1e300});
    }
    return static_cast<double>(random_.Between(-5, keys_ * 100)) * 0.01;
  }

  std::string MakeString() {
    const int64_t i = random_.Between(0, keys_);
    if (long_keys_ && random_.OneIn(6)) {
      // Around the greatest key, alone or with another part.
      return std::string(
          engine::kMaxKeyBytes - random_.Pick<int>({-1, 0, 8, 300, 2000}),
          random_.Coin() ? 'y' : '\0');
    }
    if (i > 5) return absl::StrCat("key-", i);
    static const std::vector<std::string>& strings =
        *new std::vector<std::string>{"",
                                      "a",
                                      std::string("a\0", 2),
                                      std::string("a\0\xc3\xa9", 4),
                                      "\xc3\xa9",
                                      std::string(300, 'z')};
    return strings[i];
  }

  Random random_;
  const Shape shape_;
  Script script_;
  std::vector<ViewSpec> views_;
  std::vector<std::string> producers_;
  std::vector<std::string> opened_;
  int64_t unit_ = 1;
  TimeUs now_ = 0;
  std::optional<TimeUs> clock_;
  int64_t disorder_ = 0;
  int64_t keys_ = 1;
  bool odd_doubles_ = false;
  bool greatest_doubles_ = false;
  bool moody_ = false;
  bool huge_integers_ = false;
  bool long_keys_ = false;
  int wide_ = 12;
  bool with_clock_ = false;
  std::vector<TimeUs> times_;  // of all events so far
};

}  // namespace

Script Generate(uint64_t seed, const Shape& shape) {
  return Generator(seed, shape).Run();
}

}  // namespace casement::model
