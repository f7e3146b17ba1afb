// One AppendStream. Reads while fewer than kMaxInFlightBatches batches are
// unacknowledged, hands each to the runtime, and acknowledges in order. It ends
// with OK only after `close`, once its last sequence is durable: the end of the
// requests alone proves nothing.
//
// `mutex_` guards `finished_` and every Start call. It is not held while the
// runtime is called, which may answer at once.
#ifndef CASEMENT_SERVER_RPC_APPEND_STREAM_REACTOR_H_
#define CASEMENT_SERVER_RPC_APPEND_STREAM_REACTOR_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "casement/v1/ingest.pb.h"
#include "server/rpc/batch_decoder.h"
#include "server/rpc/call_registry.h"
#include "server/rpc/in_flight_batches.h"
#include "server/rpc/names.h"
#include "server/rpc/service_context.h"
#include "server/runtime/runtime.h"

namespace casement::rpc {

class AppendStreamReactor final
    : public grpc::ServerBidiReactor<v1::AppendStreamRequest,
                                     v1::AppendStreamResponse>,
      public LongCall,
      public std::enable_shared_from_this<AppendStreamReactor> {
 public:
  // Owns itself until its call is done. `services` outlives it.
  static AppendStreamReactor* Start(ServiceContext* services);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;
  void Drain() override;

 private:
  AppendStreamReactor() = default;

  // What was read, with no lock held and no other read under way.
  void Handle(const v1::AppendStreamRequest& request);
  void HandleOpen(const v1::AppendStreamRequest::Open& open);
  void HandleBatch(const v1::Batch& batch);
  void HandleClose(const v1::AppendStreamRequest::Close& close);
  void ReadOn();

  // Answers of the runtime.
  void OnProducer(const absl::StatusOr<engine::ProducerInfo>& producer);
  void OnAppended(uint64_t ticket,
                  absl::StatusOr<runtime::AppendResult> result);

  void Finish(const absl::Status& status);

  // Starts whatever can be started. The mutex is held.
  void Proceed();
  void Write();
  void FinishIfOver();
  void FinishLocked(const absl::Status& status);

  std::shared_ptr<AppendStreamReactor> self_;
  CallRegistry::Registration registration_;
  ServiceContext* services_ = nullptr;
  runtime::Runtime* runtime_ = nullptr;

  // Of the reading side, whose steps follow one another.
  v1::AppendStreamRequest request_;
  ChildName producer_;
  int64_t epoch_ = 0;
  runtime::AppendOptions options_;
  std::unique_ptr<BatchDecoder> decoder_;  // null: not open yet

  std::mutex mutex_;
  bool finished_ = false;
  bool reading_ = false;  // a request is awaited or being handled
  bool read_ended_ = false;
  bool writing_ = false;
  bool opened_unsaid_ = false;
  bool draining_ = false;
  std::optional<int64_t> close_;
  InFlightBatches batches_;
  v1::AppendStreamResponse response_;
};

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_APPEND_STREAM_REACTOR_H_
