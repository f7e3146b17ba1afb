// One unary call, with a deadline, to absl::StatusOr.

#ifndef CASEMENT_CLIENT_TOOL_RPC_CALL_H_
#define CASEMENT_CLIENT_TOOL_RPC_CALL_H_

#include <grpcpp/grpcpp.h>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/status.h"

namespace casement::tool {

inline constexpr absl::Duration kCallTimeout = absl::Seconds(30);

// Call(*stub, &Stub::GetStream, request)
template <typename Stub, typename Request, typename Response>
absl::StatusOr<Response> Call(Stub& stub,
                              grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                           const Request&,
                                                           Response*),
                              const Request& request) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + kCallTimeout));
  Response response;
  const absl::Status status =
      client::FromGrpcStatus((stub.*method)(&context, request, &response));
  if (!status.ok()) return status;
  return response;
}

}  // namespace casement::tool

#endif  // CASEMENT_CLIENT_TOOL_RPC_CALL_H_
