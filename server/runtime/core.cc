#include "server/runtime/core.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/runtime/errors.h"
#include "spdlog/spdlog.h"
#include "state/keys.h"
#include "state/status_macros.h"

namespace casement::runtime {
namespace {

// Many small segments, as many starts leave them, are as good a reason for a
// checkpoint as much journal.
constexpr size_t kMaxOldSegments = 8;

}  // namespace

Core::Core(const RuntimeOptions& options, Clock* clock,
           std::function<void()> failed)
    : options_(options), clock_(clock), failed_callback_(std::move(failed)) {}

absl::StatusOr<std::shared_ptr<Core>> Core::Open(
    const RuntimeOptions& options, const state::StoreOptions& store_options,
    state::Directory* directory, Clock* clock, std::function<void()> failed) {
  const auto begin = std::chrono::steady_clock::now();
  std::shared_ptr<Core> core(new Core(options, clock, std::move(failed)));
  core->store_id_ = directory->store_id();
  ASSIGN_OR_RETURN(core->store_, state::Store::Open(directory, store_options));
  auto recovered = Recovery(core->store_.get()).Run();
  if (!recovered.ok()) return state::AsOpenError(recovered.status());
  RETURN_IF_ERROR(core->store_->journal().FinishReplay());
  const size_t segments = core->store_->journal().segment_count();
  core->StartThreads();
  int64_t folded = 0;
  for (RecoveredStream& stream : *recovered) {
    folded += stream.folded;
    core->AddRecovered(std::move(stream));
  }
  spdlog::info(
      "store {} is open: {} streams, {} journal records replayed, {} ms",
      directory->path(), recovered->size(), folded,
      std::chrono::duration_cast<std::chrono::milliseconds>(
          std::chrono::steady_clock::now() - begin)
          .count());
  if (segments > kMaxOldSegments) {
    core->StartCheckpoint([](const absl::Status&) {});
  }
  return core;
}

Core::~Core() { Shutdown(ReadOnlyError()); }

void Core::StartThreads() {
  readers_ = std::make_shared<Executor>(std::max(1, options_.reader_threads));
  const auto failed = [this](const absl::Status& status) { Fail(status); };
  publisher_ = std::make_unique<Publisher>(store_.get(), failed);
  Committer::Options committer;
  committer.buffered_sync_us = options_.buffered_sync_us;
  committer.failed = failed;
  committer.grown = [this](uint64_t bytes) { JournalGrew(bytes); };
  committer_ = std::make_unique<Committer>(&store_->journal(), publisher_.get(),
                                           committer);
  for (int i = 0; i < std::max(1, options_.engine_threads); ++i) {
    engines_.push_back(std::make_unique<Executor>(1));
  }
  publisher_->Start();
}

void Core::AddRecovered(RecoveredStream recovered) {
  auto entry = std::make_shared<StreamEntry>();
  entry->number = recovered.stored.number;
  entry->definition = std::make_shared<const engine::StreamDefinition>(
      std::move(recovered.definition));
  entry->thread = engines_[entry->number % engines_.size()].get();
  entry->broken = recovered.broken;
  entry->stream = std::move(recovered.stream);
  if (recovered.stored.mark.has_value()) {
    entry->checkpoint_version = recovered.stored.mark->version;
    next_checkpoint_ =
        std::max(next_checkpoint_, recovered.stored.mark->checkpoint + 1);
  }
  entry->head = std::make_shared<StreamHead>(entry->stream == nullptr
                                                 ? engine::Progress()
                                                 : entry->stream->progress());
  if (entry->stream != nullptr) {
    for (const engine::Stream::ViewInfo& view : entry->stream->ListViews()) {
      auto published = std::make_shared<PublishedView>();
      published->number = view.number;
      published->definition = *view.definition;
      entry->head->AddView(std::move(published));
    }
    CountBytes(entry.get());
  }
  std::lock_guard<std::mutex> lock(streams_mutex_);
  streams_[entry->id()] = entry;
}

void Core::Fail(const absl::Status& status) {
  if (has_failed_.exchange(true)) return;
  spdlog::error("a write failed, the store is closed: {}", status.ToString());
  committer_->Fail(ReadOnlyError());
  publisher_->Fail(ReadOnlyError());
  failed_callback_();
}

void Core::Shutdown(const absl::Status& status) {
  std::lock_guard<std::mutex> lock(shutdown_mutex_);
  if (is_shut_down_) return;
  is_shut_down_ = true;
  if (publisher_ != nullptr) {
    // A full publisher must not hold those that are joined before it.
    publisher_->Fail(status);
    committer_->Fail(status);
    for (const auto& engine : engines_) engine->Close(status);
    for (const auto& engine : engines_) engine->Join();
    committer_->Join();
    publisher_->Join();
    std::map<std::string, EntryPtr, std::less<>> streams;
    {
      std::lock_guard<std::mutex> streams_lock(streams_mutex_);
      streams = streams_;
    }
    for (const auto& [id, entry] : streams) entry->head->End(status);
    readers_->Close(status);
    readers_->Join();
  }
  store_.reset();
}

void Core::Flush() {
  // Through each engine thread, then once through the rest of the way.
  std::vector<std::promise<void>> reached(engines_.size());
  for (size_t i = 0; i < engines_.size(); ++i) {
    engines_[i]->Post([&, i](const absl::Status&) { reached[i].set_value(); });
  }
  for (std::promise<void>& promise : reached) promise.get_future().wait();
  std::promise<void> published;
  WhenPublished([&](const absl::Status&) { published.set_value(); });
  published.get_future().wait();
}

absl::Status Core::Checkpoint() {
  std::promise<absl::Status> finished;
  StartCheckpoint(
      [&](const absl::Status& status) { finished.set_value(status); });
  return finished.get_future().get();
}

void Core::JournalGrew(uint64_t bytes) {
  journal_grown_ += bytes;
  // A stream of checkpoints that wait for one another helps nobody.
  if (checkpoint_running_) return;
  if (journal_grown_ < options_.checkpoint_bytes) return;
  StartCheckpoint([](const absl::Status&) {});
}

// One checkpoint of all streams. Steps of streams end on the publisher's
// thread, one by one; the last ends the round.
struct Core::CheckpointRound {
  uint64_t number = 0;
  // All records up to this one are in it when it is done.
  state::RecordNumber through = 0;
  std::atomic<size_t> left = 0;
  // The publisher's.
  std::vector<state::Store::NewMark> marks;
  std::vector<EntryPtr> saved;
  absl::Status status;
  bool keeps_journal = false;
  Task done;
};

void Core::StartCheckpoint(Task done) {
  {
    std::lock_guard<std::mutex> lock(checkpoint_mutex_);
    if (checkpoint_running_) {
      checkpoint_waiters_.push_back(std::move(done));
      return;
    }
    checkpoint_running_ = true;
  }
  journal_grown_ = 0;
  auto round = std::make_shared<CheckpointRound>();
  round->number = next_checkpoint_++;
  round->done = std::move(done);
  // Before the streams are listed: one that is made later has no record that
  // could be cut.
  round->through = committer_->last_pushed();
  std::vector<EntryPtr> entries;
  {
    std::lock_guard<std::mutex> lock(streams_mutex_);
    for (const auto& [id, entry] : streams_) entries.push_back(entry);
  }
  round->left = entries.size() + 1;
  const auto step_done = [this, round](const absl::Status& status) {
    if (round->status.ok()) round->status = status;
    if (--round->left == 0) FinishCheckpoint(round.get());
  };
  for (const EntryPtr& entry : entries) {
    entry->thread->Post(
        [this, entry, round, step_done](const absl::Status& status) {
          if (status.ok()) SaveStream(entry, round);
          // After the chunks and the mark of the stream.
          WhenPublished([step_done, status](const absl::Status& published) {
            step_done(status.ok() ? published : status);
          });
        });
  }
  publisher_->Post(step_done);
}

void Core::SaveStream(const EntryPtr& entry,
                      const std::shared_ptr<CheckpointRound>& round) {
  if (entry->deleted) return;
  if (entry->stream == nullptr) {
    WhenPublished(
        [round](const absl::Status&) { round->keeps_journal = true; });
    return;
  }
  const engine::Version version = entry->stream->version();
  if (version == entry->checkpoint_version) return;
  state::Store::NewMark mark;
  mark.stream = entry->number;
  mark.mark.checkpoint = round->number;
  mark.mark.version = version;
  mark.mark.record = committer_->last_pushed();
  entry->stream->SaveCheckpoint([&](uint32_t partition, std::string chunk) {
    Publication put;
    put.bytes = chunk.size();
    put.task = [this, entry,
                key = state::CheckpointKey(entry->number, round->number,
                                           mark.mark.chunks, partition),
                chunk = std::move(chunk)](const absl::Status& status) {
      if (!status.ok() || entry->gone) return;
      state::StoreWriter writer(store_.get());
      writer.Put(key, chunk);
      const absl::Status written = writer.Commit();
      if (!written.ok()) Fail(written);
    };
    ++mark.mark.chunks;
    publisher_->Push(std::move(put));
  });
  WhenPublished([round, entry, mark](const absl::Status& status) {
    if (status.ok()) {
      round->marks.push_back(mark);
      round->saved.push_back(entry);
    }
  });
}

absl::Status Core::ValidateCheckpoint(const CheckpointRound& round) {
  std::vector<state::Store::NewMark> marks;
  for (size_t i = 0; i < round.marks.size(); ++i) {
    if (!round.saved[i]->gone) marks.push_back(round.marks[i]);
  }
  if (!marks.empty()) RETURN_IF_ERROR(store_->ValidateCheckpoints(marks));
  for (size_t i = 0; i < round.marks.size(); ++i) {
    round.saved[i]->checkpoint_version = round.marks[i].mark.version;
  }
  // A stream that could not be recovered needs its records still.
  if (!round.keeps_journal) RETURN_IF_ERROR(store_->CutJournal(round.through));
  spdlog::info("checkpoint {}: {} streams, journal cut behind record {}",
               round.number, marks.size(), store_->cut());
  return absl::OkStatus();
}

void Core::FinishCheckpoint(CheckpointRound* round) {
  absl::Status status = round->status;
  if (status.ok() && has_failed_) status = ReadOnlyError();
  if (status.ok()) {
    status = ValidateCheckpoint(*round);
    if (!status.ok()) Fail(status);
  }
  std::vector<Task> waiters;
  {
    std::lock_guard<std::mutex> lock(checkpoint_mutex_);
    checkpoint_running_ = false;
    waiters.swap(checkpoint_waiters_);
  }
  round->done(status);
  if (waiters.empty()) return;
  StartCheckpoint(
      [waiters = std::move(waiters)](const absl::Status& next) mutable {
        for (Task& waiter : waiters) waiter(next);
      });
}

}  // namespace casement::runtime
