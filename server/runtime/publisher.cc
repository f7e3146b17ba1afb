#include "server/runtime/publisher.h"

#include <map>
#include <utility>

#include "server/runtime/errors.h"
#include "server/runtime/publication.h"
#include "spdlog/spdlog.h"
#include "state/format.h"
#include "state/keys.h"
#include "state/status_macros.h"

namespace casement::runtime {
namespace {

// What may wait beside the work in hand.
constexpr size_t kMaxWaitingBytes = 32 << 20;
// Taken at once: its results become visible together.
constexpr size_t kMaxTakenBytes = 4 << 20;
// For what a publication takes besides its changes.
constexpr size_t kPublicationBytes = 256;

}  // namespace

Publisher::Publisher(state::Store* store,
                     std::function<void(absl::Status)> failed)
    : store_(store), failed_callback_(std::move(failed)) {}

void Publisher::Start() {
  thread_ = std::thread([this] { Run(); });
}

Publisher::~Publisher() {
  Fail(absl::CancelledError("closed"));
  Join();
}

void Publisher::Push(Publication publication) {
  publication.bytes += kPublicationBytes;
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] {
    return waiting_bytes_ < kMaxWaitingBytes || !failure_.ok() || closing_;
  });
  waiting_bytes_ += publication.bytes;
  waiting_.push_back(std::move(publication));
  changed_.notify_all();
}

void Publisher::Post(Task task) {
  Publication publication;
  publication.task = std::move(task);
  publication.bytes = kPublicationBytes;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!closing_) {
      waiting_bytes_ += publication.bytes;
      waiting_.push_back(std::move(publication));
      changed_.notify_all();
      return;
    }
  }
  publication.task(
      FromStore(failure().ok() ? absl::CancelledError("closed") : failure()));
}

void Publisher::Fail(absl::Status status) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (failure_.ok()) failure_ = std::move(status);
  changed_.notify_all();
}

void Publisher::Join() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

absl::Status Publisher::failure() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

bool Publisher::TakeSome(std::vector<Publication>* taken) {
  // Not under the lock: what a task held may do anything when it goes.
  taken->clear();
  std::unique_lock<std::mutex> lock(mutex_);
  if (waiting_.empty() && purging_ && failure_.ok() && !closing_) return true;
  changed_.wait(lock, [&] { return !waiting_.empty() || closing_; });
  size_t bytes = 0;
  while (!waiting_.empty() && bytes < kMaxTakenBytes) {
    bytes += waiting_.front().bytes;
    taken->push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  waiting_bytes_ -= bytes;
  changed_.notify_all();
  return !taken->empty() || !closing_;
}

void Publisher::Run() {
  std::vector<Publication> taken;
  while (TakeSome(&taken)) {
    // A piece after each piece of work, and all of it when there is none.
    if (!taken.empty()) Work(&taken);
    PurgeSome();
  }
}

void Publisher::PurgeSome() {
  if (!failure().ok() || purge_blocked_) return;
  const auto purged = store_->PurgeSome();
  if (absl::IsDataLoss(purged.status())) {
    // What is to be deleted can't be read: it takes space, no more.
    spdlog::error("deleting stopped: {}", purged.status().ToString());
    purge_blocked_ = true;
    std::lock_guard<std::mutex> lock(mutex_);
    purging_ = false;
    return;
  }
  if (!purged.ok()) {
    Fail(purged.status());
    failed_callback_(purged.status());
    return;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  purging_ = *purged;
}

void Publisher::Work(std::vector<Publication>* taken) {
  // Up to each task in one go, then the task.
  size_t begin = 0;
  while (begin < taken->size()) {
    size_t end = begin;
    while (end < taken->size() && (*taken)[end].task == nullptr) ++end;
    if (end < taken->size()) ++end;
    absl::Status status = failure();
    if (status.ok()) {
      status = Write(taken, begin, end);
      if (!status.ok()) {
        Fail(status);
        failed_callback_(status);
      }
    }
    Publication& last = (*taken)[end - 1];
    if (last.task != nullptr) last.task(FromStore(status));
    begin = end;
  }
}

absl::Status Publisher::Write(std::vector<Publication>* taken, size_t begin,
                              size_t end) {
  state::StoreWriter writer(store_);
  std::map<uint32_t, engine::Version> published;
  std::vector<std::pair<uint32_t, uint32_t>> dropped;
  for (size_t i = begin; i < end; ++i) {
    const Publication& publication = (*taken)[i];
    if (!publication.changes.has_value() || publication.entry->gone) continue;
    const uint32_t stream = publication.entry->number;
    const engine::Changes& changes = *publication.changes;
    EncodePublication(stream, changes,
                      [&](PublicationPart, uint32_t, absl::string_view key,
                          absl::string_view value) { writer.Put(key, value); });
    if (changes.deleted_view.has_value()) {
      const uint32_t view = *changes.deleted_view;
      writer.Put(state::ViewKey(state::Table::kDroppedView, stream, view), "");
      dropped.emplace_back(stream, view);
    }
    published[stream] = changes.version;
  }
  if (published.empty()) return absl::OkStatus();
  // Last, and never without what it stands for.
  for (const auto& [stream, version] : published) {
    writer.Put(state::StreamKey(state::Table::kPublished, stream),
               state::EncodeNumber(version));
  }
  RETURN_IF_ERROR(writer.Commit());
  for (const auto& [stream, view] : dropped) {
    store_->DropViewLater(stream, view);
  }
  for (size_t i = begin; i < end; ++i) Announce((*taken)[i]);
  return absl::OkStatus();
}

void Publisher::Announce(const Publication& publication) {
  if (!publication.changes.has_value() || publication.entry->gone) return;
  StreamHead& head = *publication.entry->head;
  if (publication.created_view != nullptr) {
    head.AddView(publication.created_view);
  }
  if (publication.changes->deleted_view.has_value()) {
    head.RemoveView(*publication.changes->deleted_view);
  }
  head.Publish(publication.changes->progress);
}

}  // namespace casement::runtime
