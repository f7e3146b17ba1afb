// Everything that works on an open store: the streams' state machines, the
// threads, the queues. It is thrown away whole after a failed write, and a new
// one is made by what also makes the first.
//
// A request's way: engine thread of its stream -> committer -> publisher. Each
// hands on in order, so what one answers is never ahead of what is durable.
// Requests that come after Shutdown are answered with its status.
#ifndef CASEMENT_SERVER_RUNTIME_CORE_H_
#define CASEMENT_SERVER_RUNTIME_CORE_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/runtime/committer.h"
#include "server/runtime/executor.h"
#include "server/runtime/publisher.h"
#include "server/runtime/recovery.h"
#include "server/runtime/runtime.h"
#include "server/runtime/stream_entry.h"
#include "state/store.h"

namespace casement::runtime {

inline constexpr int kMaxStreams = 1000;

// ALREADY_EXISTS, naming the fields that differ.
absl::Status AlreadyExists(const std::string& name,
                           const std::vector<std::string>& differences);

class Core {
 public:
  // Opens the store and recovers all streams. `failed` is called once, from a
  // thread of the core, when a write has failed: then it is to be shut down.
  static absl::StatusOr<std::shared_ptr<Core>> Open(
      const RuntimeOptions& options, const state::StoreOptions& store_options,
      state::Directory* directory, Clock* clock, std::function<void()> failed);
  ~Core();

  // Answers all that waits with the status and closes the store. Not from a
  // thread of the core.
  void Shutdown(const absl::Status& status);

  // Waits until all that was asked before is committed and published.
  void Flush();
  // Saves all streams that changed and cuts the journal; waits for it.
  absl::Status Checkpoint();

  // As in Runtime.
  void CreateStream(engine::StreamDefinition definition, bool validate_only,
                    Done<StreamInfo> done);
  void GetStream(const std::string& stream, Done<StreamInfo> done);
  void ListStreams(const std::string& after, int limit,
                   Done<std::vector<StreamInfo>> done);
  void EndStream(const std::string& stream, Done<StreamInfo> done);
  void DeleteStream(const std::string& stream, bool force, DoneStatus done);
  void CreateView(const std::string& stream, engine::ViewDefinition definition,
                  bool validate_only, Done<ViewInfo> done);
  void GetView(const std::string& stream, const std::string& view,
               Done<ViewInfo> done);
  void ListViews(const std::string& stream, const std::string& after, int limit,
                 Done<std::vector<ViewInfo>> done);
  void DeleteView(const std::string& stream, const std::string& view,
                  DoneStatus done);
  absl::StatusOr<std::shared_ptr<const engine::StreamSpec>> FindStreamSpec(
      absl::string_view stream) const;
  void OpenProducer(const std::string& stream, std::string producer,
                    std::optional<int64_t> expected_epoch,
                    Done<OpenedProducer> done);
  void GetProducer(const std::string& stream, std::string producer,
                   Done<engine::ProducerInfo> done);
  void Append(const std::string& stream, engine::BatchRecord batch,
              AppendOptions options, Done<AppendResult> done);
  void OpenLog(const std::string& stream, const std::string& view,
               LogStart start, FinalityFilter filter,
               Done<std::shared_ptr<LogReader>> done);
  void ListWindows(const std::string& stream, const std::string& view,
                   ListWindowsQuery query, std::function<bool()> cancelled,
                   Done<WindowPage> done);

 private:
  using EntryPtr = std::shared_ptr<StreamEntry>;
  struct CheckpointRound;
  struct Listing;

  Core(const RuntimeOptions& options, Clock* clock,
       std::function<void()> failed);

  // -- core.cc
  void AddRecovered(RecoveredStream recovered);
  void StartThreads();
  void Fail(const absl::Status& status);
  void JournalGrew(uint64_t bytes);
  void StartCheckpoint(Task done);
  void SaveStream(const EntryPtr& entry,
                  const std::shared_ptr<CheckpointRound>& round);
  absl::Status ValidateCheckpoint(const CheckpointRound& round);
  void FinishCheckpoint(CheckpointRound* round);

  // -- core_common.cc
  EntryPtr Find(absl::string_view stream) const;
  engine::TimeUs CreateTime() const;
  // Runs `work` on the stream's engine thread if the stream can be used;
  // otherwise `error` gets the reason.
  void OnEngine(const std::string& stream,
                absl::AnyInvocable<void(const EntryPtr&)> work,
                std::function<void(absl::Status)> error);
  // Calls the task when all that the stream's engine thread has done so far is
  // durable, or also published.
  void WhenDurable(Task task, bool synced = true);
  void WhenPublished(Task task);
  // Encodes and folds the next record.
  engine::Changes FoldRecord(StreamEntry* entry, engine::Record record,
                             bool fates, std::string* payload);
  // Hands it on: `answer` is called when it is durable, `published` when what
  // followed from it can be read. Either may be null.
  void CommitRecord(const EntryPtr& entry, std::string payload,
                    engine::Changes changes, bool synced, Task answer,
                    Task published);
  void CountBytes(StreamEntry* entry);

  static StreamInfo InfoOf(const StreamEntry& entry);
  static ViewInfo InfoOf(const StreamEntry& entry,
                         const engine::Stream::ViewInfo& view);

  // -- core_streams.cc
  void CreateOnPublisher(engine::StreamDefinition definition,
                         bool validate_only, Done<StreamInfo> done);

  // -- core_ingest.cc
  void AppendOnEngine(const EntryPtr& entry, engine::BatchRecord batch,
                      AppendOptions options, Done<AppendResult> done);

  // -- core_windows.cc
  void ReadOpenWindows(std::shared_ptr<Listing> listing,
                       std::function<void(std::shared_ptr<Listing>)> next);
  void ReadRows(std::shared_ptr<Listing> listing);
  void FinishListing(const std::shared_ptr<Listing>& listing);

  const RuntimeOptions options_;
  Clock* const clock_;
  const std::function<void()> failed_callback_;
  std::string store_id_;

  mutable std::mutex streams_mutex_;
  std::map<std::string, EntryPtr, std::less<>> streams_;

  std::atomic<size_t> queued_bytes_ = 0;
  std::atomic<size_t> state_bytes_ = 0;
  std::atomic<bool> has_failed_ = false;

  std::mutex checkpoint_mutex_;
  std::atomic<bool> checkpoint_running_ = false;
  std::vector<Task> checkpoint_waiters_;
  std::atomic<uint64_t> journal_grown_ = 0;  // since the last checkpoint
  uint64_t next_checkpoint_ = 1;             // of the round that runs

  std::mutex shutdown_mutex_;
  bool is_shut_down_ = false;

  // From the last of the way to the first, as they are joined the other way.
  std::unique_ptr<state::Store> store_;
  std::shared_ptr<Executor> readers_;
  std::unique_ptr<Publisher> publisher_;
  std::unique_ptr<Committer> committer_;
  std::vector<std::unique_ptr<Executor>> engines_;
};

}  // namespace casement::runtime

#endif  // CASEMENT_SERVER_RUNTIME_CORE_H_
