#include "server/rpc/status_conversion.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "server/engine/error.h"
#include "server/rpc/time_conversion.h"
#include "server/rpc/utf8.h"

namespace casement::rpc {
namespace {

// Strings of a detail are cut to this: a field's path, a name, a description.
constexpr size_t kMaxTextBytes = 256;

std::string Text(absl::string_view text) { return ToUtf8(text, kMaxTextBytes); }

google::rpc::ErrorInfo ToErrorInfo(const engine::ErrorDetail& detail) {
  google::rpc::ErrorInfo info;
  info.set_reason(Text(detail.reason));
  info.set_domain(kErrorDomain);
  for (const auto& [key, value] : detail.metadata) {
    (*info.mutable_metadata())[Text(key)] = Text(value);
  }
  return info;
}

google::rpc::ResourceInfo ToResourceInfo(const engine::ErrorDetail& detail) {
  google::rpc::ResourceInfo info;
  info.set_resource_name(Text(detail.resource));
  info.set_resource_type(absl::StrContains(detail.resource, "/views/")
                             ? "casement.v1.View"
                         : absl::StrContains(detail.resource, "/producers/")
                             ? "casement.v1.Producer"
                             : "casement.v1.Stream");
  return info;
}

google::rpc::BadRequest ToBadRequest(const engine::ErrorDetail& detail) {
  google::rpc::BadRequest request;
  const int count = std::min<int>(static_cast<int>(detail.violations.size()),
                                  engine::kMaxFieldViolations);
  for (int i = 0; i < count; ++i) {
    const engine::FieldViolation& violation = detail.violations[i];
    google::rpc::BadRequest::FieldViolation* proto =
        request.add_field_violations();
    proto->set_field(Text(violation.field));
    proto->set_description(Text(violation.description));
    proto->set_reason(Text(violation.reason));
  }
  return request;
}

// Adds as many of the violations, from the first, as fit.
void AddBadRequest(google::rpc::BadRequest request,
                   google::rpc::Status* status) {
  while (request.field_violations_size() > 0) {
    status->add_details()->PackFrom(request);
    if (status->ByteSizeLong() <= kMaxStatusBytes) return;
    status->mutable_details()->RemoveLast();
    request.mutable_field_violations()->RemoveLast();
  }
}

void AddIfFits(const google::protobuf::Message& detail,
               google::rpc::Status* status) {
  status->add_details()->PackFrom(detail);
  if (status->ByteSizeLong() > kMaxStatusBytes) {
    status->mutable_details()->RemoveLast();
  }
}

}  // namespace

google::rpc::Status ToRpcStatus(const absl::Status& status) {
  google::rpc::Status proto;
  proto.set_code(static_cast<int>(status.code()));
  proto.set_message(ToUtf8(status.message(), kMaxMessageBytes));
  const std::optional<engine::ErrorDetail> detail =
      engine::GetErrorDetail(status);
  if (!detail.has_value()) return proto;
  if (!detail->reason.empty()) AddIfFits(ToErrorInfo(*detail), &proto);
  if (detail->retry_delay_us.has_value()) {
    google::rpc::RetryInfo info;
    *info.mutable_retry_delay() = ToDuration(*detail->retry_delay_us);
    AddIfFits(info, &proto);
  }
  if (!detail->resource.empty()) AddIfFits(ToResourceInfo(*detail), &proto);
  if (!detail->violations.empty()) {
    AddBadRequest(ToBadRequest(*detail), &proto);
  }
  return proto;
}

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const google::rpc::Status proto = ToRpcStatus(status);
  return grpc::Status(static_cast<grpc::StatusCode>(proto.code()),
                      proto.message(), proto.SerializeAsString());
}

void Finish(grpc::CallbackServerContext* context,
            grpc::ServerUnaryReactor* reactor, const absl::Status& status) {
  if (!status.ok()) {
    const std::optional<engine::ErrorDetail> detail =
        engine::GetErrorDetail(status);
    if (detail.has_value() && detail->retry_delay_us.has_value()) {
      const int64_t ms = std::max<int64_t>(1, *detail->retry_delay_us / 1000);
      context->AddTrailingMetadata("grpc-retry-pushback-ms", absl::StrCat(ms));
    }
  }
  reactor->Finish(ToGrpcStatus(status));
}

}  // namespace casement::rpc
