#include "client/status.h"

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"

namespace casement::client {
namespace {

constexpr char kPayload[] = "type.googleapis.com/google.rpc.Status";

google::rpc::Status Payload(const absl::Status& status) {
  google::rpc::Status proto;
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayload);
  if (payload) proto.ParseFromString(std::string(*payload));
  return proto;
}

ErrorDetails ReadDetails(const google::rpc::Status& proto) {
  ErrorDetails details;
  for (const google::protobuf::Any& any : proto.details()) {
    google::rpc::ErrorInfo info;
    google::rpc::RetryInfo retry;
    google::rpc::BadRequest bad;
    if (any.UnpackTo(&info)) {
      details.reason = info.reason();
      details.metadata.insert(info.metadata().begin(), info.metadata().end());
    } else if (any.UnpackTo(&retry)) {
      details.retry_delay = absl::Seconds(retry.retry_delay().seconds()) +
                            absl::Nanoseconds(retry.retry_delay().nanos());
    } else if (any.UnpackTo(&bad)) {
      for (const auto& violation : bad.field_violations()) {
        details.violations.push_back(
            {violation.field(), violation.description(), violation.reason()});
      }
    }
  }
  return details;
}

std::string Message(const google::rpc::Status& proto) {
  std::string message = proto.message();
  for (const FieldViolation& violation : ReadDetails(proto).violations) {
    const std::string text =
        violation.description.empty()
            ? violation.field
            : absl::StrCat(violation.field, ": ", violation.description);
    // A server may have put the first into its message already.
    if (absl::StrContains(message, text)) continue;
    absl::StrAppend(&message, message.empty() ? "" : "; ", text);
  }
  if (!message.empty()) return message;
  // gRPC answers so, without a word, when it can't parse a request.
  if (proto.code() == grpc::StatusCode::UNIMPLEMENTED) {
    return "the server has no such method, or could not read the request";
  }
  return "the server gave no message";
}

}  // namespace

absl::Status FromRpcStatus(const google::rpc::Status& proto) {
  if (proto.code() == grpc::StatusCode::OK) return absl::OkStatus();
  absl::Status status(static_cast<absl::StatusCode>(proto.code()),
                      Message(proto));
  status.SetPayload(kPayload, absl::Cord(proto.SerializeAsString()));
  return status;
}

absl::Status FromGrpcStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  google::rpc::Status proto;
  // Details that don't parse are left out: code and message stand alone.
  if (!proto.ParseFromString(status.error_details())) proto.Clear();
  proto.set_code(status.error_code());
  proto.set_message(status.error_message());
  return FromRpcStatus(proto);
}

ErrorDetails GetErrorDetails(const absl::Status& status) {
  return ReadDetails(Payload(status));
}

std::string ErrorReason(const absl::Status& status) {
  return GetErrorDetails(status).reason;
}

bool IsTransient(const absl::Status& status) {
  if (absl::IsUnavailable(status)) return true;
  const ErrorDetails details = GetErrorDetails(status);
  if (details.retry_delay) return true;
  if (!details.reason.empty()) return false;
  // Without a reason it is not the service that speaks, but the way to it: a
  // reset stream comes as INTERNAL, UNKNOWN or CANCELLED.
  switch (status.code()) {
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
      return true;
    default:
      return false;
  }
}

}  // namespace casement::client
