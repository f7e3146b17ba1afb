#include "server/runtime/committer.h"

#include <algorithm>
#include <utility>

#include "server/runtime/errors.h"

namespace casement::runtime {
namespace {

// Bound of one write; the journal's write buffer has room for it above a full
// segment.
constexpr size_t kMaxGroupBytes = 8 << 20;
// Of written records that wait for a sync with what followed from them.
constexpr size_t kMaxUnsyncedBytes = 16 << 20;

}  // namespace

Committer::Committer(state::Journal* journal, Publisher* publisher,
                     Options options)
    : journal_(journal),
      publisher_(publisher),
      options_(std::move(options)),
      last_pushed_(journal->last()) {
  thread_ = std::thread([this] { Run(); });
}

Committer::~Committer() {
  Fail(absl::CancelledError("closed"));
  Join();
}

state::RecordNumber Committer::Push(Commit commit) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (closing_) {
    const absl::Status status =
        FromStore(failure_.ok() ? absl::CancelledError("closed") : failure_);
    const state::RecordNumber last = last_pushed_;
    lock.unlock();
    Answer(&commit, status);
    HandOver(&commit, status);
    return last;
  }
  if (commit.record.has_value()) ++last_pushed_;
  waiting_.push_back(std::move(commit));
  changed_.notify_one();
  return last_pushed_;
}

state::RecordNumber Committer::last_pushed() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return last_pushed_;
}

void Committer::Fail(absl::Status status) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (failure_.ok()) failure_ = std::move(status);
  changed_.notify_one();
}

void Committer::Join() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closing_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

absl::Status Committer::failure() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

bool Committer::TakeGroup(std::vector<Commit>* group) {
  group->clear();
  std::unique_lock<std::mutex> lock(mutex_);
  const auto ready = [&] { return !waiting_.empty() || closing_; };
  if (unsynced_.empty()) {
    changed_.wait(lock, ready);
  } else {
    changed_.wait_until(lock, sync_at_, ready);
  }
  size_t bytes = 0;
  while (!waiting_.empty() && bytes < kMaxGroupBytes) {
    if (waiting_.front().record.has_value()) {
      bytes += waiting_.front().record->payload.size();
    }
    group->push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return !group->empty() || !unsynced_.empty() || !closing_;
}

void Committer::Run() {
  std::vector<Commit> group;
  while (TakeGroup(&group)) Work(&group);
}

void Committer::Work(std::vector<Commit>* group) {
  // An empty group means that the time to sync has come, or the end.
  const bool sync =
      group->empty() || unsynced_bytes_ > kMaxUnsyncedBytes ||
      (!unsynced_.empty() && Clock::now() >= sync_at_) ||
      std::any_of(group->begin(), group->end(),
                  [](const Commit& commit) { return commit.synced; });
  absl::Status status = failure();
  if (status.ok()) {
    status = Write(*group, sync);
    if (!status.ok()) {
      Fail(status);
      options_.failed(status);
    }
  }
  status = FromStore(status);
  for (Commit& commit : *group) Answer(&commit, status);
  if (status.ok() && !sync) {
    if (unsynced_.empty()) {
      sync_at_ =
          Clock::now() + std::chrono::microseconds(options_.buffered_sync_us);
    }
    for (Commit& commit : *group) {
      if (commit.publication.has_value()) {
        unsynced_bytes_ += commit.publication->bytes;
      }
      unsynced_.push_back(std::move(commit));
    }
    return;
  }
  for (Commit& commit : unsynced_) HandOver(&commit, status);
  unsynced_.clear();
  unsynced_bytes_ = 0;
  for (Commit& commit : *group) HandOver(&commit, status);
}

absl::Status Committer::Write(const std::vector<Commit>& group, bool sync) {
  std::vector<state::JournalRecord> records;
  for (const Commit& commit : group) {
    if (!commit.record.has_value()) continue;
    records.push_back(state::JournalRecord{
        commit.record->stream, commit.record->version, commit.record->payload});
  }
  if (records.empty()) return sync ? journal_->Sync() : absl::OkStatus();
  const uint64_t before = journal_->appended_bytes();
  absl::Status status = journal_->Append(records, sync);
  if (status.ok()) options_.grown(journal_->appended_bytes() - before);
  return status;
}

void Committer::Answer(Commit* commit, const absl::Status& status) {
  if (commit->answer != nullptr) commit->answer(status);
  // What it holds is let go now: room in the queue for input.
  commit->answer = nullptr;
  commit->record.reset();
}

void Committer::HandOver(Commit* commit, const absl::Status& status) {
  if (!commit->publication.has_value()) return;
  if (status.ok()) {
    publisher_->Push(*std::move(commit->publication));
  } else if (commit->publication->task != nullptr) {
    commit->publication->task(status);
  }
}

}  // namespace casement::runtime
