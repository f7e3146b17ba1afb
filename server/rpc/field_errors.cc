#include "server/rpc/field_errors.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/rpc/time_conversion.h"

namespace casement::rpc {

void FieldErrors::Invalid(absl::string_view field,
                          absl::string_view description) {
  const bool known = std::any_of(
      violations_.begin(), violations_.end(),
      [&](const auto& violation) { return violation.field == field; });
  if (known || violations_.size() >= engine::kMaxFieldViolations) return;
  engine::FieldViolation violation;
  violation.field = std::string(field);
  violation.description = std::string(description);
  violations_.push_back(std::move(violation));
}

void FieldErrors::NotBuilt(absl::string_view field) {
  if (!not_built_.has_value()) not_built_ = std::string(field);
}

void FieldErrors::Merge(absl::string_view prefix, const absl::Status& status) {
  if (status.ok()) return;
  const std::optional<engine::ErrorDetail> detail =
      engine::GetErrorDetail(status);
  if (!detail.has_value() || detail->violations.empty()) {
    if (other_.ok()) other_ = status;
    return;
  }
  for (const engine::FieldViolation& violation : detail->violations) {
    Invalid(absl::StrCat(prefix, violation.field), violation.description);
  }
}

int64_t FieldErrors::Duration(absl::string_view field,
                              const google::protobuf::Duration& duration) {
  const absl::StatusOr<int64_t> us = ToDurationUs(duration);
  if (us.ok()) return *us;
  Invalid(field, us.status().message());
  return 0;
}

int64_t FieldErrors::DurationAtLeast(absl::string_view field,
                                     const google::protobuf::Duration& duration,
                                     int64_t least_us) {
  const int64_t us = Duration(field, duration);
  if (us < least_us) {
    Invalid(field,
            least_us <= 0 ? "must not be negative" : "must be at least 1 us");
  }
  return us;
}

absl::Status FieldErrors::status() const {
  if (!violations_.empty()) return engine::InvalidFields(violations_);
  if (!other_.ok()) return other_;
  if (not_built_.has_value()) return engine::NotBuilt(*not_built_);
  return absl::OkStatus();
}

std::string At(absl::string_view path, int index) {
  return absl::StrCat(path, "[", index, "]");
}

}  // namespace casement::rpc
