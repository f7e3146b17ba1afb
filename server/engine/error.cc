#include "server/engine/error.h"

#include <algorithm>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "server/engine/codec.h"

namespace casement::engine {
namespace {

constexpr char kPayloadUrl[] = "casement/error";

// detail := reason, resource: string; retry_delay + 1 or 0: varint;
//           metadata: count (key value)*; violations: count
//           (field description reason)*
std::string Encode(const ErrorDetail& detail) {
  std::string bytes;
  Encoder out(&bytes);
  out.String(detail.reason);
  out.String(detail.resource);
  out.Varint(detail.retry_delay_us ? *detail.retry_delay_us + 1 : 0);
  out.Varint(detail.metadata.size());
  for (const auto& [key, value] : detail.metadata) {
    out.String(key);
    out.String(value);
  }
  out.Varint(detail.violations.size());
  for (const FieldViolation& violation : detail.violations) {
    out.String(violation.field);
    out.String(violation.description);
    out.String(violation.reason);
  }
  return bytes;
}

ErrorDetail Decode(absl::string_view bytes) {
  Decoder in(bytes);
  ErrorDetail detail;
  detail.reason = std::string(in.String());
  detail.resource = std::string(in.String());
  if (const uint64_t delay = in.Varint(); delay > 0) {
    detail.retry_delay_us = static_cast<int64_t>(delay - 1);
  }
  for (uint64_t n = in.Count(2); n > 0; --n) {
    std::string key(in.String());
    detail.metadata.emplace_back(std::move(key), std::string(in.String()));
  }
  for (uint64_t n = in.Count(3); n > 0; --n) {
    FieldViolation violation;
    violation.field = std::string(in.String());
    violation.description = std::string(in.String());
    violation.reason = std::string(in.String());
    detail.violations.push_back(std::move(violation));
  }
  return detail;
}

}  // namespace

absl::Status MakeError(absl::StatusCode code, absl::string_view message,
                       const ErrorDetail& detail) {
  absl::Status status(code, message);
  status.SetPayload(kPayloadUrl, absl::Cord(Encode(detail)));
  return status;
}

absl::Status MakeError(
    absl::StatusCode code, absl::string_view reason, absl::string_view message,
    std::vector<std::pair<std::string, std::string>> metadata) {
  ErrorDetail detail;
  detail.reason = std::string(reason);
  detail.metadata = std::move(metadata);
  return MakeError(code, message, detail);
}

absl::Status InvalidFields(std::vector<FieldViolation> violations) {
  ErrorDetail detail;
  detail.reason = kInvalidField;
  std::string message =
      violations.empty()
          ? std::string("a field is invalid")
          : absl::StrCat(violations[0].field, ": ", violations[0].description);
  if (violations.size() > 1) {
    absl::StrAppend(&message, " (and ", violations.size() - 1, " more)");
  }
  if (violations.size() > kMaxFieldViolations) {
    violations.resize(kMaxFieldViolations);
  }
  detail.violations = std::move(violations);
  return MakeError(absl::StatusCode::kInvalidArgument, message, detail);
}

absl::Status InvalidField(absl::string_view field,
                          absl::string_view description) {
  return InvalidFields({{std::string(field), std::string(description), ""}});
}

absl::Status NotBuilt(absl::string_view field) {
  return MakeError(
      absl::StatusCode::kUnimplemented, kNotBuilt,
      absl::StrCat(field, " is valid, but not built in this server"),
      {{"field", std::string(field)}});
}

absl::Status NoSuchResource(absl::string_view name) {
  ErrorDetail detail;
  detail.reason = kNoSuchResource;
  detail.resource = std::string(name);
  return MakeError(absl::StatusCode::kNotFound,
                   absl::StrCat("there is no \"", name, "\""), detail);
}

std::optional<ErrorDetail> GetErrorDetail(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayloadUrl);
  if (!payload.has_value()) return std::nullopt;
  return Decode(std::string(*payload));
}

}  // namespace casement::engine
