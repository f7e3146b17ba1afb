// The outer part of a runtime: it keeps the directory and one core, and after a
// failed write throws the core away and makes a new one.
#include "server/runtime/runtime.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "server/runtime/core.h"
#include "server/runtime/errors.h"
#include "server/runtime/start.h"
#include "spdlog/spdlog.h"
#include "state/marker.h"

namespace casement::runtime {
namespace {

// As much as an opening writes in one go, about: no attempt is made while there
// is less.
constexpr size_t kProbeBytes = 4 << 20;

class StoreRuntime : public Runtime {
 public:
  StoreRuntime(const StartOptions& start_options, const RuntimeOptions& options,
               Clock* clock, std::unique_ptr<state::Directory> directory)
      : start_options_(start_options),
        options_(options),
        clock_(clock),
        directory_(std::move(directory)) {}

  ~StoreRuntime() override { Close(); }

  absl::Status Start() {
    auto core = OpenCore();
    if (!core.ok()) return core.status();
    {
      std::lock_guard<std::mutex> lock(mutex_);
      core_ = *std::move(core);
      state_ = ServerState::kServing;
    }
    supervisor_ = std::thread([this] { Supervise(); });
    return absl::OkStatus();
  }

  void Drain() override {
    std::shared_ptr<Core> core;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (state_ == ServerState::kDraining) return;
      core = core_;
    }
    SetState(ServerState::kDraining);
    if (core != nullptr) {
      core->Flush();
      core->Checkpoint().IgnoreError();  // it logs; a start replays instead
      core.reset();
    }
    Close();
  }

  ServerState state() const override {
    std::lock_guard<std::mutex> lock(mutex_);
    return state_;
  }

  void OnStateChange(std::function<void(ServerState)> changed) override {
    std::lock_guard<std::mutex> lock(mutex_);
    state_changed_ = std::move(changed);
  }

  std::string store_id() const override { return directory_->store_id(); }
  int store_format() const override { return directory_->format(); }

  void CreateStream(engine::StreamDefinition definition, bool validate_only,
                    Done<StreamInfo> done) override {
    With(done, [&](Core& core) {
      core.CreateStream(std::move(definition), validate_only, done);
    });
  }
  void GetStream(std::string stream, Done<StreamInfo> done) override {
    With(done, [&](Core& core) { core.GetStream(stream, done); });
  }
  void ListStreams(std::string after, int limit,
                   Done<std::vector<StreamInfo>> done) override {
    With(done, [&](Core& core) { core.ListStreams(after, limit, done); });
  }
  void EndStream(std::string stream, Done<StreamInfo> done) override {
    With(done, [&](Core& core) { core.EndStream(stream, done); });
  }
  void DeleteStream(std::string stream, bool force, DoneStatus done) override {
    With(done, [&](Core& core) { core.DeleteStream(stream, force, done); });
  }
  void CreateView(std::string stream, engine::ViewDefinition definition,
                  bool validate_only, Done<ViewInfo> done) override {
    With(done, [&](Core& core) {
      core.CreateView(stream, std::move(definition), validate_only, done);
    });
  }
  void GetView(std::string stream, std::string view,
               Done<ViewInfo> done) override {
    With(done, [&](Core& core) { core.GetView(stream, view, done); });
  }
  void ListViews(std::string stream, std::string after, int limit,
                 Done<std::vector<ViewInfo>> done) override {
    With(done, [&](Core& core) { core.ListViews(stream, after, limit, done); });
  }
  void DeleteView(std::string stream, std::string view,
                  DoneStatus done) override {
    With(done, [&](Core& core) { core.DeleteView(stream, view, done); });
  }
  absl::StatusOr<std::shared_ptr<const engine::StreamSpec>> FindStreamSpec(
      absl::string_view stream) const override {
    auto core = Current();
    if (!core.ok()) return core.status();
    return (*core)->FindStreamSpec(stream);
  }
  void OpenProducer(std::string stream, std::string producer,
                    std::optional<int64_t> expected_epoch,
                    Done<OpenedProducer> done) override {
    With(done, [&](Core& core) {
      core.OpenProducer(stream, std::move(producer), expected_epoch, done);
    });
  }
  void GetProducer(std::string stream, std::string producer,
                   Done<engine::ProducerInfo> done) override {
    With(done, [&](Core& core) {
      core.GetProducer(stream, std::move(producer), done);
    });
  }
  void Append(std::string stream, engine::BatchRecord batch,
              AppendOptions options, Done<AppendResult> done) override {
    With(done, [&](Core& core) {
      core.Append(stream, std::move(batch), options, done);
    });
  }
  void OpenLog(std::string stream, std::string view, LogStart start,
               FinalityFilter filter,
               Done<std::shared_ptr<LogReader>> done) override {
    With(done,
         [&](Core& core) { core.OpenLog(stream, view, start, filter, done); });
  }
  void ListWindows(std::string stream, std::string view, ListWindowsQuery query,
                   std::function<bool()> cancelled,
                   Done<WindowPage> done) override {
    With(done, [&](Core& core) {
      core.ListWindows(stream, view, std::move(query), std::move(cancelled),
                       done);
    });
  }

 private:
  absl::StatusOr<std::shared_ptr<Core>> Current() const {
    std::lock_guard<std::mutex> lock(mutex_);
    if (state_ == ServerState::kDraining) return DrainingError();
    if (core_ == nullptr) return ReadOnlyError();
    return core_;
  }

  // Calls `use` with the core, or `done` with the reason why there is none.
  template <typename DoneType, typename Use>
  void With(const DoneType& done, const Use& use) {
    const auto core = Current();
    if (core.ok()) {
      use(**core);
    } else {
      done(core.status());
    }
  }

  absl::StatusOr<std::shared_ptr<Core>> OpenCore() {
    return Core::Open(options_, start_options_.store, directory_.get(), clock_,
                      [this] {
                        std::lock_guard<std::mutex> lock(mutex_);
                        core_failed_ = true;
                        wake_.notify_all();
                      });
  }

  void SetState(ServerState state) {
    std::function<void(ServerState)> changed;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (state_ == ServerState::kDraining) return;  // for good
      state_ = state;
      changed = state_changed_;
    }
    if (changed != nullptr) changed(state);
  }

  // Waits for a failure, and then for the store to open again.
  void Supervise() {
    while (true) {
      std::shared_ptr<Core> failed;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        wake_.wait(lock, [&] { return core_failed_ || closing_; });
        if (closing_) return;
        failed = std::exchange(core_, nullptr);
      }
      SetState(ServerState::kReadOnly);
      failed->Shutdown(ReadOnlyError());
      failed.reset();
      if (!Reopen()) return;
      SetState(ServerState::kServing);
      spdlog::info("the store is written again");
    }
  }

  // False if the runtime closes.
  bool Reopen() {
    absl::Status told;
    while (true) {
      {
        std::unique_lock<std::mutex> lock(mutex_);
        wake_.wait_for(lock, start_options_.reopen_every,
                       [&] { return closing_; });
        if (closing_) return false;
        core_failed_ = false;
      }
      absl::Status status = directory_->ProbeSpace(kProbeBytes);
      if (status.ok()) {
        auto core = OpenCore();
        if (core.ok()) {
          std::lock_guard<std::mutex> lock(mutex_);
          core_ = *std::move(core);
          return true;
        }
        status = core.status();
      }
      if (status != told) {
        spdlog::error("the store can't be opened yet: {}", status.ToString());
        told = status;
      }
    }
  }

  void Close() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      closing_ = true;
      wake_.notify_all();
    }
    if (supervisor_.joinable()) supervisor_.join();
    std::shared_ptr<Core> core;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      state_ = ServerState::kDraining;
      core = std::exchange(core_, nullptr);
    }
    if (core != nullptr) core->Shutdown(DrainingError());
  }

  const StartOptions start_options_;
  const RuntimeOptions options_;
  Clock* const clock_;
  const std::unique_ptr<state::Directory> directory_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::shared_ptr<Core> core_;
  ServerState state_ = ServerState::kRecovering;
  std::function<void(ServerState)> state_changed_;
  bool core_failed_ = false;
  bool closing_ = false;
  std::thread supervisor_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Runtime>> StartOn(
    const StartOptions& start_options, const RuntimeOptions& options,
    Clock* clock) {
  auto directory = state::Directory::Open(options.data_dir);
  if (!directory.ok()) return directory.status();
  auto runtime = std::make_unique<StoreRuntime>(start_options, options, clock,
                                                *std::move(directory));
  const absl::Status started = runtime->Start();
  if (!started.ok()) return started;
  return runtime;
}

absl::StatusOr<std::unique_ptr<Runtime>> Runtime::Start(
    const RuntimeOptions& options, Clock* clock) {
  return StartOn(StartOptions(), options, clock);
}

}  // namespace casement::runtime
