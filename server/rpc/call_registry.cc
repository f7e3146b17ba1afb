#include "server/rpc/call_registry.h"

#include <utility>
#include <vector>

namespace casement::rpc {

CallRegistry::Registration::Registration(Registration&& other) noexcept
    : registry_(std::exchange(other.registry_, nullptr)),
      place_(other.place_) {}

CallRegistry::Registration& CallRegistry::Registration::operator=(
    Registration&& other) noexcept {
  std::swap(registry_, other.registry_);
  std::swap(place_, other.place_);
  return *this;
}

CallRegistry::Registration::~Registration() {
  if (registry_ != nullptr) registry_->Remove(place_);
}

CallRegistry::Registration CallRegistry::Add(
    const std::shared_ptr<LongCall>& call) {
  bool draining = false;
  Registration registration;
  {
    std::lock_guard lock(mutex_);
    calls_.push_back(call);
    registration = Registration(this, std::prev(calls_.end()));
    draining = draining_;
  }
  if (draining) call->Drain();
  return registration;
}

void CallRegistry::BeginShort() {
  std::lock_guard lock(mutex_);
  ++short_calls_;
}

void CallRegistry::EndShort() {
  std::lock_guard lock(mutex_);
  --short_calls_;
  if (short_calls_ == 0) emptied_.notify_all();
}

void CallRegistry::DrainAll() {
  std::vector<std::shared_ptr<LongCall>> calls;
  {
    std::lock_guard lock(mutex_);
    draining_ = true;
    for (const std::weak_ptr<LongCall>& call : calls_) {
      if (std::shared_ptr<LongCall> alive = call.lock()) {
        calls.push_back(std::move(alive));
      }
    }
  }
  for (const std::shared_ptr<LongCall>& call : calls) call->Drain();
}

bool CallRegistry::WaitUntilEmpty(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return emptied_.wait_for(
      lock, limit, [this] { return calls_.empty() && short_calls_ == 0; });
}

size_t CallRegistry::size() const {
  std::lock_guard lock(mutex_);
  return calls_.size();
}

void CallRegistry::Remove(Registration::Place place) {
  std::lock_guard lock(mutex_);
  calls_.erase(place);
  if (calls_.empty()) emptied_.notify_all();
}

}  // namespace casement::rpc
