// From gRPC's errors to absl::Status. What this is for: a message that a
// person can act on, and the machine-readable details beside it. The one
// invariant: a status keeps its code and, as a payload, everything that the
// server said with it; the functions below read it back.

#ifndef CASEMENT_CLIENT_STATUS_H_
#define CASEMENT_CLIENT_STATUS_H_

#include <grpcpp/grpcpp.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "google/rpc/status.pb.h"

namespace casement::client {

// One field that the server found fault with.
struct FieldViolation {
  std::string field;
  std::string description;
  std::string reason;
};

// What a server says beyond code and message.
struct ErrorDetails {
  // `casement.v1.ErrorReason` without its prefix, as "PRODUCER_FENCED". Empty
  // if the error is not the service's own (a broken connection).
  std::string reason;
  std::map<std::string, std::string> metadata;
  // Present if waiting this long may help.
  std::optional<absl::Duration> retry_delay;
  std::vector<FieldViolation> violations;
};

// The message names the fields that the server found fault with, as
// "field: description".
absl::Status FromGrpcStatus(const grpc::Status& status);
absl::Status FromRpcStatus(const google::rpc::Status& status);

// Empty for a status that does not come from a server.
ErrorDetails GetErrorDetails(const absl::Status& status);

// As "PRODUCER_FENCED", or empty.
std::string ErrorReason(const absl::Status& status);

// True if the same request may well succeed soon: the server is away or full,
// or the way to it broke.
bool IsTransient(const absl::Status& status);

}  // namespace casement::client

#endif  // CASEMENT_CLIENT_STATUS_H_
