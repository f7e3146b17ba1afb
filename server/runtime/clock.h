// The clock that stamps what arrives. It is read outside the fold and goes into
// the journal with what it stamps.
#ifndef CASEMENT_SERVER_RUNTIME_CLOCK_H_
#define CASEMENT_SERVER_RUNTIME_CLOCK_H_

#include <mutex>
#include <optional>

#include "server/engine/types.h"

namespace casement::runtime {

class Clock {
 public:
  virtual ~Clock() = default;
  // Unset: there is no clock, so nothing that goes by it happens.
  virtual std::optional<engine::TimeUs> Now() const = 0;
};

// The machine's clock.
class SystemClock : public Clock {
 public:
  std::optional<engine::TimeUs> Now() const override;
};

// Stands still until it is set. Starts unset. Thread-safe.
class ManualClock : public Clock {
 public:
  std::optional<engine::TimeUs> Now() const override;
  void Set(std::optional<engine::TimeUs> now);

 private:
  mutable std::mutex mutex_;
  std::optional<engine::TimeUs> now_;
};

}  // namespace casement::runtime

#endif  // CASEMENT_SERVER_RUNTIME_CLOCK_H_
