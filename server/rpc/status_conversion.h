// The only place that makes a `google.rpc.Status`: an absl::Status with its
// ErrorDetail becomes a status with ErrorInfo, RetryInfo, ResourceInfo and
// BadRequest details, small enough for a call's trailers. Statuses above that
// size would reach the client as another error.
#ifndef CASEMENT_SERVER_RPC_STATUS_CONVERSION_H_
#define CASEMENT_SERVER_RPC_STATUS_CONVERSION_H_

#include <grpcpp/grpcpp.h>

#include <cstddef>

#include "absl/status/status.h"
#include "google/rpc/status.pb.h"

namespace casement::rpc {

inline constexpr char kErrorDomain[] = "casement";
inline constexpr size_t kMaxStatusBytes = 4 << 10;
inline constexpr size_t kMaxMessageBytes = 512;

// At most kMaxStatusBytes when serialised. What doesn't fit is left out from
// the end: field violations first, the reason last.
google::rpc::Status ToRpcStatus(const absl::Status& status);

grpc::Status ToGrpcStatus(const absl::Status& status);

// Ends a unary call; a retry delay also goes into the trailer that gRPC's own
// retries go by.
void Finish(grpc::CallbackServerContext* context,
            grpc::ServerUnaryReactor* reactor, const absl::Status& status);

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_STATUS_CONVERSION_H_
