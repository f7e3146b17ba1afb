#include "tests/conformance/definition.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace casement::conformance {
namespace {

using v1::AggregateSpec;
using v1::ViewSpec;
using v1::WatermarkPolicy;
using v1::WindowSpec;

// A number that no enum of the API has: for words that it can't spell, where
// UNSPECIFIED would mean the default.
constexpr int kNoSuchValue = 99;
// The longest google.protobuf.Duration.
constexpr int64_t kLongestSeconds = 315'576'000'000;

// [a-z][a-z0-9_]{0,62}
bool IsApiName(absl::string_view name) {
  if (name.empty() || name.size() > 63 || !absl::ascii_islower(name[0])) {
    return false;
  }
  return std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_';
  });
}

// `stem`, or the first of stem_2, stem_3, ... that isn't taken.
std::string Unused(const std::string& stem,
                   const std::set<std::string>& taken) {
  std::string name = stem;
  for (int i = 2; taken.count(name) > 0; ++i) {
    name = absl::StrCat(stem, "_", i);
  }
  return name;
}

// Each by itself where the API allows that, else by a name made of `stem`.
std::map<std::string, std::string> NameAll(const std::set<std::string>& names,
                                           const std::string& stem) {
  std::set<std::string> taken;
  for (const std::string& name : names) {
    if (IsApiName(name)) taken.insert(name);
  }
  std::map<std::string, std::string> in_api;
  for (const std::string& name : names) {
    in_api[name] = IsApiName(name) ? name : Unused(stem, taken);
    taken.insert(in_api[name]);
  }
  return in_api;
}

template <typename Enum>
Enum Word(const std::string& word,
          std::initializer_list<std::pair<const char*, Enum>> known,
          Enum otherwise = static_cast<Enum>(kNoSuchValue)) {
  for (const auto& [name, value] : known) {
    if (word == name) return value;
  }
  return otherwise;
}

// What can't be read goes as a Duration that is none: one whose parts differ in
// sign.
google::protobuf::Duration AsDuration(const Length& length) {
  google::protobuf::Duration duration;
  if (length.readable) return ToDuration(length.value);
  duration.set_seconds(1);
  duration.set_nanos(-1);
  return duration;
}

v1::FieldType TypeOf(const std::string& type) {
  return Word<v1::FieldType>(type,
                             {{"int64", v1::FIELD_TYPE_INT64},
                              {"double", v1::FIELD_TYPE_DOUBLE},
                              {"string", v1::FIELD_TYPE_STRING}},
                             v1::FIELD_TYPE_UNSPECIFIED);
}

int WeekStartDay(const std::string& name) {
  static constexpr const char* kDays[] = {"monday",   "tuesday", "wednesday",
                                          "thursday", "friday",  "saturday",
                                          "sunday"};
  for (int i = 0; i < 7; ++i) {
    if (name == kDays[i]) return i + 1;
  }
  return kNoSuchValue;
}

WindowSpec::Calendar MakeCalendar(const WindowModel& window) {
  WindowSpec::Calendar calendar;
  // The unit is required, so that UNSPECIFIED is refused.
  calendar.set_unit(Word<WindowSpec::Calendar::Unit>(
      window.unit,
      {{"hour", WindowSpec::Calendar::UNIT_HOUR},
       {"day", WindowSpec::Calendar::UNIT_DAY},
       {"week", WindowSpec::Calendar::UNIT_WEEK},
       {"month", WindowSpec::Calendar::UNIT_MONTH},
       {"quarter", WindowSpec::Calendar::UNIT_QUARTER},
       {"year", WindowSpec::Calendar::UNIT_YEAR}},
      WindowSpec::Calendar::UNIT_UNSPECIFIED));
  if (window.count.has_value()) {
    // Zero is the API's way to say "the default": what a case means by it can
    // only be said by another count that is none.
    const int64_t count = *window.count == 0 ? -1 : *window.count;
    calendar.set_count(
        static_cast<int32_t>(std::clamp<int64_t>(count, INT32_MIN, INT32_MAX)));
  }
  calendar.set_time_zone(window.time_zone.value_or(""));
  if (window.week_start.has_value()) {
    calendar.set_week_start_day(WeekStartDay(*window.week_start));
  }
  if (window.offset.given) {
    *calendar.mutable_day_start_offset() = AsDuration(window.offset);
  }
  return calendar;
}

// What the case doesn't give stays unset.
WindowSpec MakeWindow(const WindowModel& window) {
  WindowSpec spec;
  if (window.kind == "fixed") {
    auto* tumbling = spec.mutable_tumbling();
    if (window.size.given) *tumbling->mutable_size() = AsDuration(window.size);
    if (window.offset.given) {
      *tumbling->mutable_offset() = AsDuration(window.offset);
    }
  } else if (window.kind == "sliding") {
    auto* sliding = spec.mutable_sliding();
    if (window.size.given) *sliding->mutable_size() = AsDuration(window.size);
    if (window.slide.given) {
      *sliding->mutable_period() = AsDuration(window.slide);
    }
    if (window.offset.given) {
      *sliding->mutable_offset() = AsDuration(window.offset);
    }
  } else if (window.kind == "session") {
    auto* session = spec.mutable_session();
    if (window.gap.given) *session->mutable_gap() = AsDuration(window.gap);
    session->set_gap_rule(Word<WindowSpec::Session::GapRule>(
        window.gap_rule,
        {{"inclusive", WindowSpec::Session::GAP_RULE_INCLUSIVE},
         {"exclusive", WindowSpec::Session::GAP_RULE_EXCLUSIVE}}));
  } else if (window.kind == "calendar") {
    *spec.mutable_calendar() = MakeCalendar(window);
  } else if (window.kind == "global") {
    spec.mutable_global();
  }
  return spec;
}

AggregateSpec MakeAggregate(const Aggregate& aggregate, const ApiNames& names) {
  AggregateSpec spec;
  spec.set_alias(names.OfAggregate(aggregate.name));
  spec.set_function(Word<AggregateSpec::Function>(
      aggregate.fn,
      {{"count", AggregateSpec::FUNCTION_COUNT},
       {"sum", AggregateSpec::FUNCTION_SUM},
       {"avg", AggregateSpec::FUNCTION_MEAN},
       {"min", AggregateSpec::FUNCTION_MIN},
       {"max", AggregateSpec::FUNCTION_MAX},
       {"distinct", AggregateSpec::FUNCTION_DISTINCT_COUNT},
       {"first", AggregateSpec::FUNCTION_FIRST},
       {"last", AggregateSpec::FUNCTION_LAST}},
      AggregateSpec::FUNCTION_UNSPECIFIED));
  if (aggregate.field.has_value())
    spec.set_field(names.OfField(*aggregate.field));
  return spec;
}

v1::TriggerSpec MakeTrigger(const std::string& provisional) {
  v1::TriggerSpec trigger;
  if (provisional == "never") {
    trigger.set_no_on_time(true);
    trigger.mutable_late()->set_none(true);
  } else if (provisional == "on_change") {
    trigger.mutable_early()->set_every_batch(true);
  }
  return trigger;
}

WatermarkPolicy MakePolicy(const Pipeline& pipeline,
                           const std::vector<std::string>& source_ids) {
  WatermarkPolicy policy;
  *policy.mutable_bounded_delay()->mutable_max_delay() =
      AsDuration(pipeline.delay);
  policy.set_advance(Word<WatermarkPolicy::Advance>(
      pipeline.advance,
      {{"per_event", WatermarkPolicy::ADVANCE_AFTER_EACH_EVENT},
       {"per_batch", WatermarkPolicy::ADVANCE_AFTER_EACH_BATCH}}));
  policy.set_scope(Word<WatermarkPolicy::Scope>(
      pipeline.scope, {{"global", WatermarkPolicy::SCOPE_STREAM},
                       {"per_key", WatermarkPolicy::SCOPE_KEY}}));
  if (pipeline.sources.has_value()) {
    policy.set_combine(WatermarkPolicy::COMBINE_LEAST_OVER_PRODUCERS);
    for (const std::string& id : source_ids) {
      policy.add_required_producers(id);
    }
  } else {
    policy.set_combine(WatermarkPolicy::COMBINE_GREATEST);
  }
  policy.set_future_action(WatermarkPolicy::FUTURE_ACTION_ACCEPT);
  if (pipeline.future.has_value()) {
    *policy.mutable_max_future_skew() = AsDuration(pipeline.future->limit);
    policy.set_future_action(Word<WatermarkPolicy::FutureAction>(
        pipeline.future->action,
        {{"hold", WatermarkPolicy::FUTURE_ACTION_HOLD},
         {"reject", WatermarkPolicy::FUTURE_ACTION_REJECT}}));
  }
  return policy;
}

}  // namespace

ApiNames::ApiNames(const Pipeline& pipeline) {
  std::set<std::string> fields;
  for (const auto& [name, type] : pipeline.fields) fields.insert(name);
  fields_ = NameAll(fields, "field");
  std::set<std::string> taken;
  for (const auto& [name, in_api] : fields_) taken.insert(in_api);
  key_ = Unused("key", taken);
  std::set<std::string> aggregates;
  for (const Aggregate& aggregate : pipeline.aggregates) {
    aggregates.insert(aggregate.name);
  }
  aggregates_ = NameAll(aggregates, "value");
}

std::string ApiNames::OfField(const std::string& field) const {
  auto name = fields_.find(field);
  return name == fields_.end() ? field : name->second;
}

std::string ApiNames::OfAggregate(const std::string& name) const {
  return aggregates_.at(name);
}

v1::Stream MakeStream(const Pipeline& pipeline, const ApiNames& names,
                      const std::vector<std::string>& source_ids) {
  v1::Stream stream;
  if (pipeline.keyed) {
    v1::FieldSpec* key = stream.add_fields();
    key->set_name(names.key());
    key->set_type(v1::FIELD_TYPE_STRING);
    key->set_required(pipeline.missing_key == "reject");
  }
  for (const auto& [name, type] : pipeline.fields) {
    v1::FieldSpec* field = stream.add_fields();
    field->set_name(names.OfField(name));
    field->set_type(TypeOf(type));
  }
  *stream.mutable_watermark_policy() = MakePolicy(pipeline, source_ids);
  stream.set_invalid_event_policy(Word<v1::InvalidEventPolicy>(
      pipeline.on_invalid,
      {{"reject_event", v1::INVALID_EVENT_POLICY_REJECT_EVENT},
       {"reject_batch", v1::INVALID_EVENT_POLICY_REJECT_BATCH}}));
  if (pipeline.dedup == "event_id") {
    stream.mutable_event_deduplication()->mutable_horizon()->set_seconds(
        kLongestSeconds);
  }
  return stream;
}

v1::View MakeView(const Pipeline& pipeline, const ApiNames& names) {
  v1::View view;
  ViewSpec* spec = view.mutable_spec();
  *spec->mutable_window() = MakeWindow(pipeline.window);
  if (pipeline.keyed) spec->add_group_by(names.key());
  for (const Aggregate& aggregate : pipeline.aggregates) {
    *spec->add_aggregates() = MakeAggregate(aggregate, names);
  }
  if (pipeline.allowed_lateness.given) {
    *spec->mutable_allowed_lateness() = AsDuration(pipeline.allowed_lateness);
  }
  spec->set_late_rule(Word<ViewSpec::LateRule>(
      pipeline.late_rule,
      {{"behind_watermark", ViewSpec::LATE_RULE_BEHIND_WATERMARK},
       {"window_closed", ViewSpec::LATE_RULE_WINDOW_CLOSED}}));
  if (pipeline.is_session()) {
    spec->set_session_late_check(Word<ViewSpec::SessionLateCheck>(
        pipeline.session_check,
        {{"merged", ViewSpec::SESSION_LATE_CHECK_MERGED},
         {"own", ViewSpec::SESSION_LATE_CHECK_OWN}}));
  }
  *spec->mutable_trigger() = MakeTrigger(pipeline.provisional);
  if (pipeline.emit_empty) spec->mutable_emit_empty();
  return view;
}

}  // namespace casement::conformance
