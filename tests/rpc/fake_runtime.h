// A runtime in a test's hands: it keeps what it is asked and answers when the
// test says so. Whatever a test doesn't set up is UNIMPLEMENTED.
#ifndef CASEMENT_TESTS_RPC_FAKE_RUNTIME_H_
#define CASEMENT_TESTS_RPC_FAKE_RUNTIME_H_

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/engine/error.h"
#include "server/runtime/runtime.h"

namespace casement::rpc {

// Long enough for any machine; a test that passes never waits so long.
inline constexpr std::chrono::seconds kPatience(60);

// A log that gives the chunks it is given, in order.
class FakeLogReader : public runtime::LogReader {
 public:
  explicit FakeLogReader(runtime::LogPosition start) : position_(start) {
    view_.id = "v";
  }

  // Hands out `chunk` next; wakes who waits.
  void Add(absl::StatusOr<runtime::LogChunk> chunk) {
    std::function<void()> wake;
    {
      std::lock_guard lock(mutex_);
      chunks_.push_back(std::move(chunk));
      std::swap(wake, wake_);
    }
    if (wake != nullptr) wake();
  }
  bool WaitUntilIdle() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience,
                             [this] { return wake_ != nullptr; });
  }
  bool WaitUntilRead() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [this] { return reads_ > 0; });
  }
  int reads() const {
    std::lock_guard lock(mutex_);
    return reads_;
  }
  void set_allowed_lateness_us(int64_t us) {
    view_.spec.allowed_lateness_us = us;
  }

  const runtime::LogIdentity& identity() const override { return identity_; }
  const engine::ViewDefinition& view() const override { return view_; }
  engine::Progress head_progress() const override { return head_; }
  runtime::LogPosition position() const override { return position_; }
  void Next(size_t max_bytes, runtime::Done<runtime::LogChunk> done) override {
    EXPECT_GT(max_bytes, 0u);
    runtime::LogChunk nothing;
    nothing.caught_up = true;
    absl::StatusOr<runtime::LogChunk> chunk;
    {
      std::lock_guard lock(mutex_);
      ++reads_;
      nothing.position = position_;
      nothing.served_version = served_version_;
      nothing.progress = progress_;
      nothing.head_progress = progress_;
      chunk = nothing;
      if (!chunks_.empty()) {
        chunk = std::move(chunks_.front());
        chunks_.pop_front();
      }
      if (chunk.ok()) {
        position_ = chunk->position;
        served_version_ = chunk->served_version;
        if (chunk->caught_up) progress_ = chunk->progress;
      }
    }
    changed_.notify_all();
    done(std::move(chunk));
  }
  void WakeOnNews(std::function<void()> wake) override {
    bool news = false;
    {
      std::lock_guard lock(mutex_);
      news = !chunks_.empty();
      if (!news) wake_ = wake;
    }
    changed_.notify_all();
    if (news && wake != nullptr) wake();
  }

 private:
  const runtime::LogIdentity identity_ = {"fake-store", 1, 2};
  engine::ViewDefinition view_;
  engine::Progress head_{.watermark = 50'000'000, .version = 5};

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  runtime::LogPosition position_;
  engine::Version served_version_ = 0;
  engine::Progress progress_;
  std::deque<absl::StatusOr<runtime::LogChunk>> chunks_;
  std::function<void()> wake_;
  int reads_ = 0;
};

class FakeRuntime : public runtime::Runtime {
 public:
  struct Appended {
    engine::BatchRecord batch;
    runtime::Done<runtime::AppendResult> done;
  };

  FakeRuntime() {
    auto spec = std::make_shared<engine::StreamSpec>();
    spec->fields = {{"n", engine::FieldType::kInt64, false}};
    spec_ = std::move(spec);
  }

  // -- For the test.

  // What the producer is like when a stream opens.
  engine::ProducerInfo producer;
  std::shared_ptr<FakeLogReader> log;
  std::vector<runtime::LogStart> log_starts;
  std::vector<runtime::FinalityFilter> log_filters;
  // Answers ListWindows; none: it stays unanswered.
  std::function<absl::StatusOr<runtime::WindowPage>(
      const runtime::ListWindowsQuery&)>
      list_windows;
  int most_in_flight = 1 << 30;

  bool WaitForAppends(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] {
      return static_cast<int>(appends_.size()) >= count;
    });
  }
  int64_t SequenceOf(int append) {
    std::lock_guard lock(mutex_);
    return appends_[append].batch.sequence;
  }
  // Answers the append (by order of arrival) with OK.
  void Commit(int append) {
    runtime::AppendResult result;
    result.ack.sequence = SequenceOf(append);
    result.ack.version = 100 + result.ack.sequence;
    result.ack.progress.version = result.ack.version;
    result.ack.accepted = 1;
    Answer(append, std::move(result));
  }
  void Answer(int append, absl::StatusOr<runtime::AppendResult> result) {
    runtime::Done<runtime::AppendResult> done;
    {
      std::lock_guard lock(mutex_);
      std::swap(done, appends_[append].done);
      ++answered_;
    }
    done(std::move(result));
  }
  bool WaitForListWindows() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience,
                             [this] { return pending_list_ != nullptr; });
  }
  bool ListIsCancelled() { return list_cancelled_(); }
  void AnswerList(absl::StatusOr<runtime::WindowPage> page) {
    pending_list_(std::move(page));
  }
  void SetState(runtime::ServerState state) {
    std::function<void(runtime::ServerState)> changed;
    {
      std::lock_guard lock(mutex_);
      state_ = state;
      changed = state_changed_;
    }
    if (changed != nullptr) changed(state);
  }

  // -- Runtime

  void Drain() override {}
  runtime::ServerState state() const override {
    std::lock_guard lock(mutex_);
    return state_;
  }
  void OnStateChange(
      std::function<void(runtime::ServerState)> changed) override {
    std::lock_guard lock(mutex_);
    state_changed_ = std::move(changed);
  }
  std::string store_id() const override { return "fake-store"; }
  int store_format() const override { return 1; }

  void CreateStream(engine::StreamDefinition, bool,
                    runtime::Done<runtime::StreamInfo> done) override {
    done(Unimplemented());
  }
  void GetStream(std::string,
                 runtime::Done<runtime::StreamInfo> done) override {
    done(Unimplemented());
  }
  void ListStreams(
      std::string, int,
      runtime::Done<std::vector<runtime::StreamInfo>> done) override {
    done(Unimplemented());
  }
  void EndStream(std::string,
                 runtime::Done<runtime::StreamInfo> done) override {
    done(engine::MakeError(absl::StatusCode::kUnavailable, "no room",
                           {.reason = engine::kReadOnly,
                            .metadata = {},
                            .violations = {},
                            .resource = "",
                            .retry_delay_us = 2'000'000}));
  }
  void DeleteStream(std::string, bool, runtime::DoneStatus done) override {
    done(Unimplemented());
  }
  void CreateView(std::string, engine::ViewDefinition, bool,
                  runtime::Done<runtime::ViewInfo> done) override {
    done(Unimplemented());
  }
  void GetView(std::string, std::string,
               runtime::Done<runtime::ViewInfo> done) override {
    done(Unimplemented());
  }
  void ListViews(std::string, std::string, int,
                 runtime::Done<std::vector<runtime::ViewInfo>> done) override {
    done(Unimplemented());
  }
  void DeleteView(std::string, std::string, runtime::DoneStatus done) override {
    done(Unimplemented());
  }
  absl::StatusOr<std::shared_ptr<const engine::StreamSpec>> FindStreamSpec(
      absl::string_view stream) const override {
    if (stream != "s") return engine::NoSuchResource("streams/other");
    return spec_;
  }
  void OpenProducer(std::string, std::string, std::optional<int64_t>,
                    runtime::Done<runtime::OpenedProducer> done) override {
    done(Unimplemented());
  }
  void GetProducer(std::string, std::string,
                   runtime::Done<engine::ProducerInfo> done) override {
    done(producer);
  }
  void Append(std::string, engine::BatchRecord batch, runtime::AppendOptions,
              runtime::Done<runtime::AppendResult> done) override {
    {
      std::lock_guard lock(mutex_);
      appends_.push_back({std::move(batch), std::move(done)});
      EXPECT_LE(static_cast<int>(appends_.size()) - answered_, most_in_flight);
    }
    changed_.notify_all();
  }
  void OpenLog(
      std::string, std::string, runtime::LogStart start,
      runtime::FinalityFilter filter,
      runtime::Done<std::shared_ptr<runtime::LogReader>> done) override {
    log_starts.push_back(start);
    log_filters.push_back(filter);
    if (log == nullptr) {
      done(engine::NoSuchResource("streams/s/views/v"));
      return;
    }
    done(std::shared_ptr<runtime::LogReader>(log));
  }
  void ListWindows(std::string, std::string, runtime::ListWindowsQuery query,
                   std::function<bool()> cancelled,
                   runtime::Done<runtime::WindowPage> done) override {
    if (list_windows != nullptr) {
      done(list_windows(query));
      return;
    }
    {
      std::lock_guard lock(mutex_);
      list_cancelled_ = std::move(cancelled);
      pending_list_ = std::move(done);
    }
    changed_.notify_all();
  }

 private:
  static absl::Status Unimplemented() {
    return absl::UnimplementedError("not set up");
  }

  std::shared_ptr<const engine::StreamSpec> spec_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Appended> appends_;
  int answered_ = 0;
  std::function<bool()> list_cancelled_;
  runtime::Done<runtime::WindowPage> pending_list_;
  runtime::ServerState state_ = runtime::ServerState::kServing;
  std::function<void(runtime::ServerState)> state_changed_;
};

}  // namespace casement::rpc

#endif  // CASEMENT_TESTS_RPC_FAKE_RUNTIME_H_
