#include "server/runtime/stream_head.h"

#include <utility>

namespace casement::runtime {

engine::Progress StreamHead::progress() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return progress_;
}

absl::Status StreamHead::status() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return status_;
}

std::shared_ptr<const PublishedView> StreamHead::FindView(
    absl::string_view id) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = views_.find(std::string(id));
  return it == views_.end() ? nullptr : it->second;
}

void StreamHead::AddView(std::shared_ptr<PublishedView> view) {
  std::lock_guard<std::mutex> lock(mutex_);
  views_[view->definition.id] = std::move(view);
}

void StreamHead::RemoveView(uint32_t number) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto it = views_.begin(); it != views_.end(); ++it) {
    if (it->second->number != number) continue;
    it->second->deleted = true;
    views_.erase(it);
    return;
  }
}

void StreamHead::Publish(const engine::Progress& progress) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    progress_ = progress;
  }
  WakeAll();
}

void StreamHead::End(const absl::Status& status) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!status_.ok()) return;
    status_ = status;
  }
  WakeAll();
}

void StreamHead::WakeAll() {
  std::vector<std::weak_ptr<HeadWaiter>> waiters;
  std::vector<VersionWaiter> version_waiters;
  engine::Version version = 0;
  absl::Status status;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    waiters.swap(waiters_);
    version_waiters.swap(version_waiters_);
    version = progress_.version;
    status = status_;
  }
  for (const auto& waiter : waiters) {
    if (const auto alive = waiter.lock()) alive->Moved();
  }
  std::vector<VersionWaiter> still;
  for (VersionWaiter& waiter : version_waiters) {
    if (!status.ok()) {
      waiter.task(status);
    } else if (waiter.cancelled != nullptr && waiter.cancelled()) {
      waiter.task(absl::CancelledError("cancelled"));
    } else if (waiter.version <= version) {
      waiter.task(absl::OkStatus());
    } else {
      still.push_back(std::move(waiter));
    }
  }
  // Through the front door again: the stream may have moved or ended since.
  for (VersionWaiter& waiter : still) {
    WaitForVersion(waiter.version, std::move(waiter.cancelled),
                   std::move(waiter.task));
  }
}

bool StreamHead::HasNewsOrWait(const LogPosition& position,
                               const PublishedView& view,
                               const std::weak_ptr<HeadWaiter>& waiter) {
  const LogPosition end{0, kEndOfVersion};
  std::lock_guard<std::mutex> lock(mutex_);
  if (!status_.ok() || view.deleted ||
      position < LogPosition{progress_.version, end.index}) {
    return true;
  }
  waiters_.push_back(waiter);
  return false;
}

void StreamHead::WaitForVersion(engine::Version version,
                                std::function<bool()> cancelled, Task task) {
  absl::Status status;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    status = status_;
    if (status.ok() && progress_.version < version) {
      version_waiters_.push_back(
          VersionWaiter{version, std::move(cancelled), std::move(task)});
      return;
    }
  }
  task(status);
}

}  // namespace casement::runtime
