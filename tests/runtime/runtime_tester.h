// A runtime on a directory of its own, with calls that wait for their answer, a
// small stream (a key, a number) and views over it.
#ifndef CASEMENT_TESTS_RUNTIME_RUNTIME_TESTER_H_
#define CASEMENT_TESTS_RUNTIME_RUNTIME_TESTER_H_

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/engine/error.h"
#include "server/engine/record.h"
#include "server/runtime/clock.h"
#include "server/runtime/runtime.h"
#include "server/runtime/start.h"
#include "tests/state/test_util.h"

namespace casement::runtime {

using state::HasCode;
using state::IsOk;

// Calls `start` with a callback and waits for what that gets.
template <typename T>
absl::StatusOr<T> Await(const std::function<void(Done<T>)>& start) {
  auto answer = std::make_shared<std::promise<absl::StatusOr<T>>>();
  start([answer](absl::StatusOr<T> result) {
    answer->set_value(std::move(result));
  });
  return answer->get_future().get();
}

inline absl::Status AwaitStatus(const std::function<void(DoneStatus)>& start) {
  auto answer = std::make_shared<std::promise<absl::Status>>();
  start([answer](absl::Status status) { answer->set_value(status); });
  return answer->get_future().get();
}

inline std::string ReasonOf(const absl::Status& status) {
  const auto detail = engine::GetErrorDetail(status);
  return detail.has_value() ? detail->reason : "";
}

constexpr int64_t kSecond = 1'000'000;

// A time in seconds, a key and a number.
struct TestEvent {
  int64_t second = 0;
  std::string key;
  int64_t number = 1;
};

inline engine::StreamDefinition TestStream(const std::string& id) {
  engine::StreamDefinition stream;
  stream.id = id;
  stream.spec.fields = {{"key", engine::FieldType::kString, false},
                        {"number", engine::FieldType::kInt64, false}};
  stream.spec.watermark.max_delay_us = 5 * kSecond;
  return stream;
}

// Tumbling windows of ten seconds by key: count and sum.
inline engine::ViewDefinition TestView(const std::string& id) {
  engine::ViewDefinition view;
  view.id = id;
  view.spec.window.kind = engine::WindowKind::kTumbling;
  view.spec.window.size_us = 10 * kSecond;
  view.spec.group_by = {"key"};
  view.spec.aggregates = {{"count", engine::Function::kCount, ""},
                          {"sum", engine::Function::kSum, "number"}};
  return view;
}

inline engine::BatchRecord TestBatch(const std::string& producer, int64_t epoch,
                                     int64_t sequence,
                                     const std::vector<TestEvent>& events) {
  engine::BatchRecord batch;
  batch.producer = producer;
  batch.epoch = epoch;
  batch.sequence = sequence;
  batch.events.sent_count = static_cast<int32_t>(events.size());
  batch.events.columns.resize(2);
  engine::Column& keys = batch.events.columns[0];
  engine::Column& numbers = batch.events.columns[1];
  keys.present = numbers.present = true;
  for (const TestEvent& event : events) {
    batch.events.times.push_back(event.second * kSecond);
    keys.symbols.push_back(batch.events.symbols.Add(event.key));
    numbers.int64s.push_back(event.number);
  }
  engine::SetDigest(&batch);
  return batch;
}

// A result as text: version, finality, window in seconds, key, count, sum.
inline std::string Text(const engine::Result& result) {
  constexpr const char* kNames[] = {"?", "PROVISIONAL", "FINAL", "CORRECTED",
                                    "RETRACTED"};
  std::string text = absl::StrCat(
      "v", result.version, " ", kNames[static_cast<int>(result.finality)], " [",
      result.window.start / kSecond, ",", result.window.end / kSecond, ")");
  const auto key = engine::DecodeKey(result.key);
  if (key.ok()) {
    for (const engine::ScalarValue& part : *key) {
      if (const auto* name = std::get_if<std::string>(&part)) {
        absl::StrAppend(&text, " ", *name);
      }
    }
  }
  for (const engine::AggregateValue& value : result.values) {
    if (const auto* number = std::get_if<int64_t>(&value)) {
      absl::StrAppend(&text, " ", *number);
    }
  }
  return text;
}

class RuntimeTester {
 public:
  RuntimeTester() { options.data_dir = dir / "data"; }

  absl::Status TryStart() {
    auto started = StartOn(start_options, options, &clock);
    if (!started.ok()) return started.status();
    runtime = *std::move(started);
    return absl::OkStatus();
  }
  void Start() { ASSERT_THAT(TryStart(), IsOk()); }
  // As SIGTERM does.
  void Drain() {
    runtime->Drain();
    runtime.reset();
  }
  // Without a checkpoint.
  void Abandon() { runtime.reset(); }

  absl::StatusOr<StreamInfo> CreateStream(
      const engine::StreamDefinition& stream, bool validate_only = false) {
    return Await<StreamInfo>([&](Done<StreamInfo> done) {
      runtime->CreateStream(stream, validate_only, std::move(done));
    });
  }
  absl::StatusOr<StreamInfo> GetStream(const std::string& stream) {
    return Await<StreamInfo>([&](Done<StreamInfo> done) {
      runtime->GetStream(stream, std::move(done));
    });
  }
  absl::StatusOr<StreamInfo> EndStream(const std::string& stream) {
    return Await<StreamInfo>([&](Done<StreamInfo> done) {
      runtime->EndStream(stream, std::move(done));
    });
  }
  absl::Status DeleteStream(const std::string& stream, bool force) {
    return AwaitStatus([&](DoneStatus done) {
      runtime->DeleteStream(stream, force, std::move(done));
    });
  }
  absl::StatusOr<ViewInfo> CreateView(const std::string& stream,
                                      const engine::ViewDefinition& view,
                                      bool validate_only = false) {
    return Await<ViewInfo>([&](Done<ViewInfo> done) {
      runtime->CreateView(stream, view, validate_only, std::move(done));
    });
  }
  absl::StatusOr<ViewInfo> GetView(const std::string& stream,
                                   const std::string& view) {
    return Await<ViewInfo>([&](Done<ViewInfo> done) {
      runtime->GetView(stream, view, std::move(done));
    });
  }
  absl::Status DeleteView(const std::string& stream, const std::string& view) {
    return AwaitStatus([&](DoneStatus done) {
      runtime->DeleteView(stream, view, std::move(done));
    });
  }
  absl::StatusOr<OpenedProducer> OpenProducer(const std::string& stream,
                                              const std::string& producer) {
    return Await<OpenedProducer>([&](Done<OpenedProducer> done) {
      runtime->OpenProducer(stream, producer, std::nullopt, std::move(done));
    });
  }
  absl::StatusOr<engine::ProducerInfo> GetProducer(
      const std::string& stream, const std::string& producer) {
    return Await<engine::ProducerInfo>([&](Done<engine::ProducerInfo> done) {
      runtime->GetProducer(stream, producer, std::move(done));
    });
  }
  absl::StatusOr<AppendResult> Append(
      const std::string& stream, int64_t sequence,
      const std::vector<TestEvent>& events,
      AppendOptions append_options = AppendOptions(),
      const std::string& producer = "p", int64_t epoch = 1) {
    return Await<AppendResult>([&](Done<AppendResult> done) {
      runtime->Append(stream, TestBatch(producer, epoch, sequence, events),
                      append_options, std::move(done));
    });
  }
  absl::StatusOr<std::shared_ptr<LogReader>> OpenLog(
      const std::string& stream, const std::string& view,
      LogStart start = {LogStart::Kind::kOldest, {}},
      FinalityFilter filter = FinalityFilter()) {
    return Await<std::shared_ptr<LogReader>>(
        [&](Done<std::shared_ptr<LogReader>> done) {
          runtime->OpenLog(stream, view, start, filter, std::move(done));
        });
  }
  static absl::StatusOr<LogChunk> Next(LogReader& reader,
                                       size_t max_bytes = 1 << 20) {
    return Await<LogChunk>(
        [&](Done<LogChunk> done) { reader.Next(max_bytes, std::move(done)); });
  }
  absl::StatusOr<WindowPage> ListWindows(const std::string& stream,
                                         const std::string& view,
                                         const ListWindowsQuery& query) {
    return Await<WindowPage>([&](Done<WindowPage> done) {
      runtime->ListWindows(
          stream, view, query, [] { return false; }, std::move(done));
    });
  }

  // A stream "s" with a view "v" and a producer "p" in epoch 1.
  void MakeStream(const std::string& stream = "s") {
    ASSERT_THAT(CreateStream(TestStream(stream)), IsOk());
    ASSERT_THAT(CreateView(stream, TestView("v")), IsOk());
    ASSERT_THAT(OpenProducer(stream, "p"), IsOk());
  }

  // Waits until all up to the version can be read.
  void WaitForVersion(const std::string& stream, engine::Version version,
                      const std::string& view = "v") {
    ListWindowsQuery query;
    query.min_version = version;
    query.max_results = 1;
    ASSERT_THAT(ListWindows(stream, view, query), IsOk());
  }

  // All of a view's log that is published, as text.
  std::vector<std::string> Log(const std::string& stream = "s",
                               const std::string& view = "v",
                               size_t max_bytes = 1 << 20) {
    std::vector<std::string> log;
    const auto reader = OpenLog(stream, view);
    EXPECT_THAT(reader, IsOk());
    while (reader.ok()) {
      const auto chunk = Next(**reader, max_bytes);
      EXPECT_THAT(chunk, IsOk());
      if (!chunk.ok()) break;
      for (const engine::Result& result : chunk->results) {
        log.push_back(Text(result));
      }
      if (chunk->caught_up) break;
    }
    return log;
  }

  // All pages of a listing, as text.
  std::vector<std::string> Windows(ListWindowsQuery query,
                                   const std::string& stream = "s",
                                   const std::string& view = "v") {
    std::vector<std::string> windows;
    while (true) {
      const auto page = ListWindows(stream, view, query);
      EXPECT_THAT(page, IsOk());
      if (!page.ok()) return windows;
      for (const engine::Result& result : page->results) {
        windows.push_back(Text(result));
      }
      if (!page->next.has_value()) return windows;
      query.after = *page->next;
    }
  }

  state::TempDir dir;
  ManualClock clock;
  RuntimeOptions options;
  StartOptions start_options;
  std::unique_ptr<Runtime> runtime;
};

}  // namespace casement::runtime

#endif  // CASEMENT_TESTS_RUNTIME_RUNTIME_TESTER_H_
