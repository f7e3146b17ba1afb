#include "tests/support/rpc.h"

#include "absl/strings/str_cat.h"

namespace casement::support {
namespace {

// The first detail of the type, or nothing.
template <typename Detail>
std::optional<Detail> FindDetail(const google::rpc::Status& status) {
  for (const google::protobuf::Any& any : status.details()) {
    Detail detail;
    if (any.Is<Detail>() && any.UnpackTo(&detail)) return detail;
  }
  return std::nullopt;
}

std::string CodeName(int code) {
  return absl::StatusCodeToString(static_cast<absl::StatusCode>(code));
}

}  // namespace

google::rpc::Status DetailsOf(const grpc::Status& status) {
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) details.Clear();
  return details;
}

std::string ReasonOf(const google::rpc::Status& status) {
  auto info = FindDetail<google::rpc::ErrorInfo>(status);
  return info.has_value() ? info->reason() : "";
}

std::vector<google::rpc::BadRequest::FieldViolation> ViolationsOf(
    const google::rpc::Status& status) {
  auto bad = FindDetail<google::rpc::BadRequest>(status);
  if (!bad.has_value()) return {};
  return {bad->field_violations().begin(), bad->field_violations().end()};
}

std::string Describe(const google::rpc::Status& status) {
  std::string text =
      absl::StrCat(CodeName(status.code()), ": ", status.message());
  if (std::string reason = ReasonOf(status); !reason.empty()) {
    absl::StrAppend(&text, " [", reason, "]");
  }
  return text;
}

std::string Describe(const grpc::Status& status) {
  google::rpc::Status details = DetailsOf(status);
  details.set_code(status.error_code());
  details.set_message(status.error_message());
  return Describe(details);
}

absl::Status ToAbsl(absl::string_view what, const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      absl::StrCat(what, ": ", Describe(status)));
}

}  // namespace casement::support
