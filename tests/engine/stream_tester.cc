#include "tests/engine/stream_tester.h"

#include <gtest/gtest.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace casement::engine {
namespace {

std::string KeyText(const std::string& key) {
  const auto parts = DecodeKey(key);
  EXPECT_TRUE(parts.ok());
  return absl::StrJoin(*parts, ",",
                       [](std::string* out, const ScalarValue& part) {
                         const auto* text = std::get_if<std::string>(&part);
                         absl::StrAppend(out, text != nullptr ? *text : "null");
                       });
}

std::string Text(const Result& result) {
  std::string text;
  switch (result.finality) {
    case Finality::kProvisional:
      text = result.timing == Timing::kEarly    ? "EARLY"
             : result.timing == Timing::kOnTime ? "ON_TIME"
             : result.timing == Timing::kLate   ? "LATE"
                                                : "OPEN";
      break;
    case Finality::kFinal:
      text = "FINAL";
      break;
    case Finality::kCorrected:
      text = "CORRECTED";
      break;
    case Finality::kRetracted:
      text = "RETRACTED";
      break;
  }
  absl::StrAppend(&text, " ", KeyText(result.key), " [", result.window.start,
                  ",", result.window.end, ")");
  if (result.finality != Finality::kRetracted) {
    absl::StrAppend(&text, " n=", result.event_count);
  }
  for (const Window& window : result.replaced_windows) {
    absl::StrAppend(&text, " -[", window.start, ",", window.end, ")");
  }
  return text;
}

}  // namespace

StreamTester::StreamTester(StreamSpec stream, ViewSpec view)
    : stream_(std::make_unique<Stream>(std::move(stream))) {
  CreateViewRecord create;
  create.definition.id = "view";
  create.definition.spec = std::move(view);
  EXPECT_TRUE(stream_->Admit(create).ok()) << stream_->Admit(create);
  Fold(create);
}

StreamSpec StreamTester::StreamOf(int64_t delay) {
  StreamSpec spec;
  spec.fields = {{"key", FieldType::kString, false},
                 {"x", FieldType::kInt64, false}};
  spec.watermark.max_delay_us = delay;
  spec.watermark.combine = Combine::kGreatest;
  return spec;
}

ViewSpec StreamTester::Tumbling(int64_t size, int64_t offset) {
  ViewSpec spec;
  spec.window.kind = WindowKind::kTumbling;
  spec.window.size_us = size;
  spec.window.offset_us = offset;
  spec.group_by = {"key"};
  spec.aggregates = {{"n", Function::kCount, ""},
                     {"total", Function::kSum, "x"}};
  return spec;
}

ViewSpec StreamTester::Sliding(int64_t size, int64_t period, int64_t offset) {
  ViewSpec spec = Tumbling(size, offset);
  spec.window.kind = WindowKind::kSliding;
  spec.window.period_us = period;
  return spec;
}

ViewSpec StreamTester::Session(int64_t gap, GapRule rule) {
  ViewSpec spec = Tumbling(1);
  spec.window = WindowSpec();
  spec.window.kind = WindowKind::kSession;
  spec.window.gap_us = gap;
  spec.window.gap_rule = rule;
  return spec;
}

BatchRecord StreamTester::NextBatch(const std::vector<TestEvent>& events,
                                    const std::string& producer) {
  if (!stream_->FindProducer(producer).has_value()) {
    Fold(OpenProducerRecord{producer});
  }
  const ProducerInfo info = *stream_->FindProducer(producer);
  BatchRecord batch;
  batch.producer = producer;
  batch.epoch = info.epoch;
  batch.sequence = info.last_sequence + 1;
  batch.arrival_time = clock_;
  batch.events.sent_count = static_cast<int32_t>(events.size());
  batch.events.columns.resize(2);
  Column& keys = batch.events.columns[0];
  Column& values = batch.events.columns[1];
  keys.present = values.present = !events.empty();
  for (const TestEvent& event : events) {
    batch.events.times.push_back(event.time);
    keys.symbols.push_back(batch.events.symbols.Add(event.key));
    values.int64s.push_back(event.x);
  }
  SetDigest(&batch);
  return batch;
}

std::vector<std::string> StreamTester::Fold(Record record) {
  stream_->Fold(std::move(record), true, &changes_);
  std::vector<std::string> texts;
  for (const ViewChanges& view : changes_.views) {
    for (const ResultEntry& entry : view.results) {
      const auto result = DecodeLogEntry(entry.log_entry, changes_.version);
      EXPECT_TRUE(result.ok()) << result.status();
      texts.push_back(Text(*result));
    }
  }
  return texts;
}

std::vector<std::string> StreamTester::Send(
    const std::vector<TestEvent>& events, const std::string& producer) {
  BatchRecord batch = NextBatch(events, producer);
  const auto admitted = stream_->Admit(batch);
  EXPECT_TRUE(admitted.ok()) << admitted.status();
  return Fold(std::move(batch));
}

std::vector<std::string> StreamTester::Assert(TimeUs watermark,
                                              const std::string& producer) {
  BatchRecord batch = NextBatch({}, producer);
  batch.asserted_watermark = watermark;
  SetDigest(&batch);
  EXPECT_TRUE(stream_->Admit(batch).ok());
  return Fold(std::move(batch));
}

std::vector<std::string> StreamTester::Say(SourceState state,
                                           const std::string& producer) {
  BatchRecord batch = NextBatch({}, producer);
  batch.source_state = state;
  SetDigest(&batch);
  return Fold(std::move(batch));
}

std::vector<std::string> StreamTester::End() { return Fold(EndStreamRecord{}); }

std::vector<std::string> StreamTester::Open() const {
  std::vector<std::string> texts;
  for (const Result& result : stream_->OpenWindows(1, {}, 1000)) {
    texts.push_back(Text(result));
  }
  return texts;
}

}  // namespace casement::engine
