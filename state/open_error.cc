#include "state/open_error.h"

#include <string>

#include "absl/strings/cord.h"

namespace casement::state {
namespace {

constexpr char kPayloadUrl[] = "casement/open-error";

absl::StatusCode CodeOf(OpenError kind) {
  switch (kind) {
    case OpenError::kInUse:
    case OpenError::kForeign:
    case OpenError::kNewerFormat:
      return absl::StatusCode::kFailedPrecondition;
    case OpenError::kUnwritable:
      return absl::StatusCode::kPermissionDenied;
    case OpenError::kCorrupt:
      return absl::StatusCode::kDataLoss;
    case OpenError::kOther:
      break;
  }
  return absl::StatusCode::kUnavailable;
}

}  // namespace

absl::Status MakeOpenError(OpenError kind, absl::string_view message) {
  absl::Status status(CodeOf(kind), message);
  const char digit = static_cast<char>('0' + static_cast<int>(kind));
  status.SetPayload(kPayloadUrl, absl::Cord(absl::string_view(&digit, 1)));
  return status;
}

std::optional<OpenError> GetOpenError(const absl::Status& status) {
  const auto payload = status.GetPayload(kPayloadUrl);
  if (!payload.has_value() || payload->size() != 1) return std::nullopt;
  return static_cast<OpenError>((*payload)[0] - '0');
}

absl::Status AsOpenError(const absl::Status& status) {
  if (status.ok() || GetOpenError(status).has_value()) return status;
  return MakeOpenError(
      absl::IsDataLoss(status) ? OpenError::kCorrupt : OpenError::kOther,
      status.message());
}

}  // namespace casement::state
