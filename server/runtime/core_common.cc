// What the requests have in common: finding the stream, the way through the
// engine thread, the committer and the publisher.
#include <utility>

#include "server/engine/error.h"
#include "server/runtime/core.h"
#include "server/runtime/errors.h"

namespace casement::runtime {

Core::EntryPtr Core::Find(absl::string_view stream) const {
  std::lock_guard<std::mutex> lock(streams_mutex_);
  const auto it = streams_.find(std::string(stream));
  return it == streams_.end() ? nullptr : it->second;
}

engine::TimeUs Core::CreateTime() const {
  const auto now = clock_->Now();
  return now.has_value() ? *now : *SystemClock().Now();
}

absl::StatusOr<std::shared_ptr<const engine::StreamSpec>> Core::FindStreamSpec(
    absl::string_view stream) const {
  const EntryPtr entry = Find(stream);
  if (entry == nullptr) return engine::NoSuchResource(StreamName(stream));
  if (!entry->broken.ok()) return entry->broken;
  return std::shared_ptr<const engine::StreamSpec>(entry->definition,
                                                   &entry->definition->spec);
}

void Core::OnEngine(const std::string& stream,
                    absl::AnyInvocable<void(const EntryPtr&)> work,
                    std::function<void(absl::Status)> error) {
  const EntryPtr entry = Find(stream);
  if (entry == nullptr) {
    error(engine::NoSuchResource(StreamName(stream)));
    return;
  }
  entry->thread->Post([this, entry, work = std::move(work),
                       error = std::move(error)](
                          const absl::Status& status) mutable {
    if (!status.ok()) {
      error(status);
    } else if (has_failed_) {
      // Memory may be ahead of the disk for good: nothing is told from it.
      error(ReadOnlyError());
    } else if (entry->deleted) {
      WhenPublished([entry, error](const absl::Status& published) {
        error(published.ok() ? engine::NoSuchResource(StreamName(entry->id()))
                             : published);
      });
    } else if (!entry->broken.ok()) {
      error(entry->broken);
    } else {
      work(entry);
    }
  });
}

void Core::WhenDurable(Task task, bool synced) {
  Commit barrier;
  barrier.synced = synced;
  barrier.answer = std::move(task);
  committer_->Push(std::move(barrier));
}

void Core::WhenPublished(Task task) {
  Commit barrier;
  barrier.publication.emplace();
  barrier.publication->task = std::move(task);
  committer_->Push(std::move(barrier));
}

engine::Changes Core::FoldRecord(StreamEntry* entry, engine::Record record,
                                 bool fates, std::string* payload) {
  *payload = engine::EncodeRecord(record, entry->definition->spec);
  engine::Changes changes;
  entry->stream->Fold(std::move(record), fates, &changes);
  CountBytes(entry);
  return changes;
}

void Core::CommitRecord(const EntryPtr& entry, std::string payload,
                        engine::Changes changes, bool synced, Task answer,
                        Task published) {
  Commit commit;
  commit.record.emplace();
  commit.record->stream = entry->number;
  commit.record->version = changes.version;
  commit.record->payload = std::move(payload);
  commit.synced = synced;
  commit.answer = std::move(answer);
  Publication& publication = commit.publication.emplace();
  publication.entry = entry;
  publication.bytes = changes.memory_bytes();
  publication.task = std::move(published);
  if (changes.created_view.has_value()) {
    const auto view = entry->stream->FindView(*changes.created_view);
    publication.created_view = std::make_shared<PublishedView>();
    publication.created_view->number = view->number;
    publication.created_view->definition = *view->definition;
  }
  publication.changes = std::move(changes);
  committer_->Push(std::move(commit));
}

void Core::CountBytes(StreamEntry* entry) {
  const size_t now = entry->stream->memory_bytes();
  state_bytes_ += now - entry->counted_bytes;
  entry->counted_bytes = now;
}

StreamInfo Core::InfoOf(const StreamEntry& entry) {
  StreamInfo info;
  info.definition = *entry.definition;
  if (entry.stream != nullptr) {
    info.progress = entry.stream->progress();
    info.accounts = entry.stream->accounts();
    info.duplicate_batches = entry.duplicate_batches;
  }
  return info;
}

ViewInfo Core::InfoOf(const StreamEntry& entry,
                      const engine::Stream::ViewInfo& view) {
  ViewInfo info;
  info.definition = *view.definition;
  info.number = view.number;
  info.progress = entry.stream->progress();
  info.accounts = view.accounts;
  info.live_keys = view.live_keys;
  return info;
}

}  // namespace casement::runtime
