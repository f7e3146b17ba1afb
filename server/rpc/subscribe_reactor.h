// One Subscribe. It pulls: a chunk is read from the view's log when gRPC is
// ready for the next write, so a subscriber costs a place in the log and one
// response, however slow it is.
//
//   opening -> writing -> reading -> writing ... -> idle -> reading ...
//
// `mutex_` guards `finished_`, the state and every Start call. It is not held
// while the runtime is called.
#ifndef CASEMENT_SERVER_RPC_SUBSCRIBE_REACTOR_H_
#define CASEMENT_SERVER_RPC_SUBSCRIBE_REACTOR_H_

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "casement/v1/result.pb.h"
#include "server/rpc/call_registry.h"
#include "server/rpc/cursor.h"
#include "server/rpc/service_context.h"
#include "server/runtime/runtime.h"

namespace casement::rpc {

class SubscribeReactor final
    : public grpc::ServerWriteReactor<v1::SubscribeResponse>,
      public LongCall,
      public std::enable_shared_from_this<SubscribeReactor> {
 public:
  // Owns itself until its call is done. `services` outlives it.
  static SubscribeReactor* Start(ServiceContext* services,
                                 const v1::SubscribeRequest& request);

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;
  void Drain() override;

 private:
  enum class State { kOpening, kWriting, kReading, kIdle };

  SubscribeReactor() = default;

  absl::Status Open(ServiceContext* services,
                    const v1::SubscribeRequest& request);

  // From the runtime and the timer.
  void OnOpened(absl::StatusOr<std::shared_ptr<runtime::LogReader>> reader);
  void OnChunk(absl::StatusOr<runtime::LogChunk> chunk);
  void OnNews();
  void OnAlarm();

  // Calls of the runtime; the lock is given up for them.
  void Read(std::unique_lock<std::mutex> lock);
  void WaitForNews(std::unique_lock<std::mutex> lock);

  // The mutex is held.
  absl::Status TakeChunk(const runtime::LogChunk& chunk);
  void WriteResponse();
  void WriteSynced();
  void WriteHeartbeat();
  void SetAlarm(std::chrono::steady_clock::duration delay);
  void FinishLocked(const absl::Status& status);

  std::shared_ptr<SubscribeReactor> self_;
  CallRegistry::Registration registration_;
  MemoryReservation memory_;

  // Set before anything starts.
  ServiceContext* services_ = nullptr;
  std::string view_;
  std::optional<Cursor> start_cursor_;
  std::chrono::steady_clock::duration heartbeat_{};
  size_t max_response_bytes_ = 0;

  std::mutex mutex_;
  bool finished_ = false;
  State state_ = State::kOpening;
  bool draining_ = false;
  std::shared_ptr<runtime::LogReader> reader_;
  std::unique_ptr<grpc::Alarm> alarm_;
  std::chrono::steady_clock::time_point last_write_;
  bool heartbeat_due_ = false;
  v1::SubscribeResponse response_;

  // As far as this subscriber has been served.
  std::string cursor_;
  int64_t allowed_lateness_us_ = 0;
  engine::Version served_version_ = 0;
  engine::Progress progress_;
  engine::Progress head_progress_;
  bool caught_up_ = false;  // by the last chunk
  bool synced_said_ = false;
};

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_SUBSCRIBE_REACTOR_H_
