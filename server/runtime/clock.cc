#include "server/runtime/clock.h"

#include <chrono>

namespace casement::runtime {

std::optional<engine::TimeUs> SystemClock::Now() const {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::optional<engine::TimeUs> ManualClock::Now() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return now_;
}

void ManualClock::Set(std::optional<engine::TimeUs> now) {
  std::lock_guard<std::mutex> lock(mutex_);
  now_ = now;
}

}  // namespace casement::runtime
