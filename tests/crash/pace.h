// How far the two producers have come and may go. Neither runs far ahead of the
// other, since what one is ahead stays open in the server; and both go on until
// they are told to stop, or have sent what they were given.

#ifndef CASEMENT_TESTS_CRASH_PACE_H_
#define CASEMENT_TESTS_CRASH_PACE_H_

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>

#include "tests/crash/input.h"

namespace casement::stress {

class Pace {
 public:
  using Sequences = std::array<int64_t, kProducers>;

  // No limits: until Stop().
  Pace() { limits_.fill(std::numeric_limits<int64_t>::max()); }
  explicit Pace(const Sequences& limits) : limits_(limits) {}

  // True if the producer may send this batch now. If it may not yet, waits
  // with `wait`, else returns false. False for ever when it has to end.
  bool MaySend(int producer, int64_t sequence, bool wait) {
    std::unique_lock<std::mutex> lock(mutex_);
    const int other = 1 - producer;
    const auto near = [&] {
      return sequence <= acked_[other] + kLead ||
             acked_[other] >= limits_[other];
    };
    if (wait) changed_.wait(lock, [&] { return stopped_ || near(); });
    return !stopped_ && sequence <= limits_[producer] && near();
  }

  // Whether MaySend says no for good.
  bool Ended(int producer, int64_t sequence) {
    std::lock_guard<std::mutex> lock(mutex_);
    return stopped_ || sequence > limits_[producer];
  }

  // Every batch up to this one was acknowledged.
  void Acked(int producer, int64_t sequence) {
    std::lock_guard<std::mutex> lock(mutex_);
    acked_[producer] = std::max(acked_[producer], sequence);
    changed_.notify_all();
  }

  Sequences acked() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return acked_;
  }

  void Stop() {
    std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

 private:
  static constexpr int64_t kLead = 50;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Sequences limits_;
  Sequences acked_ = {};
  bool stopped_ = false;
};

}  // namespace casement::stress

#endif  // CASEMENT_TESTS_CRASH_PACE_H_
