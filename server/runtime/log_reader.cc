#include "server/runtime/log_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/engine/error.h"
#include "server/runtime/errors.h"
#include "state/result_reader.h"

namespace casement::runtime {
namespace {

// Entries that a filter leaves out are read as well: after so many bytes of
// them a chunk ends, empty perhaps, so that one reader doesn't hold a thread.
constexpr size_t kMaxScannedBytes = 4 << 20;

}  // namespace

StoreLogReader::StoreLogReader(LogIdentity identity,
                               std::shared_ptr<StreamHead> head,
                               std::shared_ptr<const PublishedView> view,
                               std::string stream_id, LogPosition start,
                               FinalityFilter filter,
                               std::shared_ptr<Executor> readers,
                               const state::Store* store)
    : identity_(std::move(identity)),
      head_(std::move(head)),
      view_(std::move(view)),
      stream_id_(std::move(stream_id)),
      filter_(filter),
      readers_(std::move(readers)),
      store_(store),
      position_(start) {}

LogPosition StoreLogReader::position() const {
  std::lock_guard<std::mutex> lock(position_mutex_);
  return position_;
}

bool StoreLogReader::Passes(engine::Finality finality,
                            engine::Finality retracted_finality) const {
  if (filter_.all || filter_.allowed[static_cast<int>(finality)]) return true;
  return finality == engine::Finality::kRetracted &&
         filter_.allowed[static_cast<int>(retracted_finality)];
}

void StoreLogReader::Next(size_t max_bytes, Done<LogChunk> done) {
  readers_->Post([self = shared_from_this(), max_bytes,
                  done = std::move(done)](const absl::Status& status) {
    absl::Status head = self->head_->status();
    if (!status.ok() || !head.ok()) {
      done(head.ok() ? status : head);
      return;
    }
    if (self->view_->deleted) {
      done(engine::NoSuchResource(
          ViewName(self->stream_id_, self->view_->definition.id)));
      return;
    }
    absl::StatusOr<LogChunk> chunk = self->Read(max_bytes);
    if (chunk.ok()) {
      std::lock_guard<std::mutex> lock(self->position_mutex_);
      self->position_ = chunk->position;
    }
    done(std::move(chunk));
  });
}

absl::StatusOr<LogChunk> StoreLogReader::Read(size_t max_bytes) const {
  LogChunk chunk;
  chunk.position = position();
  // Before the cursor is made, so that the cursor sees all up to it.
  chunk.head_progress = head_->progress();
  const engine::Version head = chunk.head_progress.version;
  state::LogCursor cursor(*store_, identity_.stream_number,
                          identity_.view_number);
  if (chunk.position.index == kEndOfVersion) {
    cursor.Seek(chunk.position.version + 1, 0);
  } else {
    cursor.Seek(chunk.position.version, chunk.position.index + 1);
  }
  size_t bytes = 0;
  size_t scanned = 0;
  bool full = false;
  for (; cursor.Valid() && cursor.version() <= head; cursor.Next()) {
    const absl::string_view entry = cursor.entry();
    if (scanned > 0 && scanned + entry.size() > kMaxScannedBytes) {
      full = true;
      break;
    }
    const auto finality = engine::PeekFinality(entry);
    if (!finality.ok()) return FromStore(finality.status());
    if (Passes(finality->finality, finality->retracted_finality)) {
      if (!chunk.results.empty() && bytes + entry.size() > max_bytes) {
        full = true;
        break;
      }
      auto result = engine::DecodeLogEntry(entry, cursor.version());
      if (!result.ok()) return FromStore(result.status());
      chunk.results.push_back(*std::move(result));
      bytes += entry.size();
    }
    scanned += entry.size();
    chunk.position = LogPosition{cursor.version(), cursor.index()};
  }
  if (!cursor.status().ok()) return FromStore(cursor.status());
  if (full) {
    // The cursor stands on the first entry that was not handed out.
    chunk.served_version = cursor.version() - 1;
    chunk.partial_version = !chunk.results.empty() && cursor.index() > 0 &&
                            chunk.results.back().version == cursor.version();
    return chunk;
  }
  chunk.position = std::max(chunk.position, LogPosition{head, kEndOfVersion});
  chunk.served_version = head;
  chunk.caught_up = true;
  chunk.progress = chunk.head_progress;
  return chunk;
}

void StoreLogReader::WakeOnNews(std::function<void()> wake) {
  // A wake that goes away may hold the last other reference.
  const auto self = shared_from_this();
  std::lock_guard<std::mutex> lock(wake_mutex_);
  wake_ = std::move(wake);
  WakeIfNews();
}

void StoreLogReader::Moved() {
  std::lock_guard<std::mutex> lock(wake_mutex_);
  waiting_ = false;
  WakeIfNews();
}

void StoreLogReader::WakeIfNews() {
  if (wake_ == nullptr || waiting_) return;
  if (!head_->HasNewsOrWait(position(), *view_, weak_from_this())) {
    waiting_ = true;
    return;
  }
  const std::function<void()> wake = std::exchange(wake_, nullptr);
  wake();
}

}  // namespace casement::runtime
