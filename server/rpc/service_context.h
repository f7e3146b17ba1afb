// What all services share. A server listens before its store is open and
// answers until the very end of a drain: each handler asks `Enter` first, which
// says whether there is a runtime to go to.
#ifndef CASEMENT_SERVER_RPC_SERVICE_CONTEXT_H_
#define CASEMENT_SERVER_RPC_SERVICE_CONTEXT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/engine/types.h"
#include "server/rpc/call_registry.h"
#include "server/runtime/runtime.h"

namespace casement::rpc {

// What a subscriber that doesn't read may hold in memory, set aside for as long
// as this lives.
class MemoryReservation {
 public:
  MemoryReservation() = default;
  MemoryReservation(std::atomic<int64_t>* used, int64_t bytes)
      : used_(used), bytes_(bytes) {}
  MemoryReservation(MemoryReservation&& other) noexcept;
  MemoryReservation& operator=(MemoryReservation&& other) noexcept;
  ~MemoryReservation();

 private:
  std::atomic<int64_t>* used_ = nullptr;
  int64_t bytes_ = 0;
};

class ServiceContext {
 public:
  // Of all subscribers together.
  static constexpr int64_t kSubscriberBytes = int64_t{2} << 30;
  // With more calls than these each gives its memory back when it can.
  static constexpr size_t kCallsThatKeepMemory = 64;

  ServiceContext();

  // From now on calls are served. The runtime outlives the server.
  void SetRuntime(runtime::Runtime* runtime);
  // From now on calls are refused.
  void BeginDrain();

  // UNAVAILABLE (RECOVERING or DRAINING) when nothing is served.
  absl::StatusOr<runtime::Runtime*> Enter() const;

  // RESOURCE_EXHAUSTED (QUOTA) if the subscribers that there are leave no room.
  absl::StatusOr<MemoryReservation> ReserveForSubscriber(int64_t bytes);
  bool is_crowded() const { return calls_.size() > kCallsThatKeepMemory; }

  runtime::ServerState state() const;
  // Null while recovering.
  runtime::Runtime* runtime_or_null() const;
  engine::TimeUs start_time() const { return start_time_; }
  CallRegistry& calls() { return calls_; }

 private:
  const engine::TimeUs start_time_;
  std::atomic<runtime::Runtime*> runtime_{nullptr};
  std::atomic<bool> draining_{false};
  std::atomic<int64_t> subscriber_bytes_{0};
  CallRegistry calls_;
};

// UNAVAILABLE (DRAINING); `cursor`, if not empty, goes along.
absl::Status DrainingError(const std::string& cursor = "");

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_SERVICE_CONTEXT_H_
