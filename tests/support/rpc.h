// Calls with a deadline, and their errors in words. Every call of a test has a
// deadline, so that a server that hangs fails the test and doesn't hang it.

#ifndef CASEMENT_TESTS_SUPPORT_RPC_H_
#define CASEMENT_TESTS_SUPPORT_RPC_H_

#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace casement::support {

// One unary call that waits for the server to be there.
template <typename Stub, typename Request, typename Response>
grpc::Status Call(
    Stub& stub,
    grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                 Response*),
    const Request& request, Response* response,
    std::chrono::milliseconds deadline = std::chrono::milliseconds(60'000)) {
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  context.set_deadline(std::chrono::system_clock::now() + deadline);
  return (stub.*method)(&context, request, response);
}

// The name of the code, the message, and the reason that the server gives.
std::string Describe(const grpc::Status& status);
std::string Describe(const google::rpc::Status& status);

// The same code, with `what` before the description.
absl::Status ToAbsl(absl::string_view what, const grpc::Status& status);

// The server's `google.rpc.Status`; empty if there is none.
google::rpc::Status DetailsOf(const grpc::Status& status);
// ErrorInfo.reason; empty if there is none.
std::string ReasonOf(const google::rpc::Status& status);
// What BadRequest names.
std::vector<google::rpc::BadRequest::FieldViolation> ViolationsOf(
    const google::rpc::Status& status);

}  // namespace casement::support

#endif  // CASEMENT_TESTS_SUPPORT_RPC_H_
