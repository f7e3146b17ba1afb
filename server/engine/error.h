// Errors with a reason. The code is chosen where the meaning is known; what a
// client's program needs (reason, metadata, fields, retry delay) goes along in
// the status and becomes `google.rpc` details in the RPC layer only.
#ifndef CASEMENT_SERVER_ENGINE_ERROR_H_
#define CASEMENT_SERVER_ENGINE_ERROR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace casement::engine {

// Names of casement.v1.ErrorReason without the prefix.
inline constexpr char kInvalidField[] = "INVALID_FIELD";
inline constexpr char kSequenceReused[] = "SEQUENCE_REUSED";
inline constexpr char kPageTokenMismatch[] = "PAGE_TOKEN_MISMATCH";
inline constexpr char kBatchTooLarge[] = "BATCH_TOO_LARGE";
inline constexpr char kMalformedBatch[] = "MALFORMED_BATCH";
inline constexpr char kCursorInvalid[] = "CURSOR_INVALID";
inline constexpr char kNotBuilt[] = "NOT_BUILT";
inline constexpr char kNoSuchResource[] = "NO_SUCH_RESOURCE";
inline constexpr char kResourceExists[] = "RESOURCE_EXISTS";
inline constexpr char kSequenceGap[] = "SEQUENCE_GAP";
inline constexpr char kNotClosed[] = "NOT_CLOSED";
inline constexpr char kProducerFenced[] = "PRODUCER_FENCED";
inline constexpr char kWrongState[] = "WRONG_STATE";
inline constexpr char kHasViews[] = "HAS_VIEWS";
inline constexpr char kOverloaded[] = "OVERLOADED";
inline constexpr char kQuota[] = "QUOTA";
inline constexpr char kRecovering[] = "RECOVERING";
inline constexpr char kDraining[] = "DRAINING";
inline constexpr char kReadOnly[] = "READ_ONLY";
inline constexpr char kStoreCorrupt[] = "STORE_CORRUPT";

inline constexpr int kMaxFieldViolations = 16;

struct FieldViolation {
  std::string field;
  std::string description;
  std::string reason;  // may be empty
};

struct ErrorDetail {
  std::string reason;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<FieldViolation> violations;  // at most kMaxFieldViolations
  std::string resource;                    // name, or empty
  std::optional<int64_t> retry_delay_us;
};

// A status of this code that carries `detail`.
absl::Status MakeError(absl::StatusCode code, absl::string_view message,
                       const ErrorDetail& detail);

// The same, for the common case.
absl::Status MakeError(
    absl::StatusCode code, absl::string_view reason, absl::string_view message,
    std::vector<std::pair<std::string, std::string>> metadata = {});

// INVALID_ARGUMENT (INVALID_FIELD); the message names the first violation.
absl::Status InvalidFields(std::vector<FieldViolation> violations);
absl::Status InvalidField(absl::string_view field,
                          absl::string_view description);

// UNIMPLEMENTED (NOT_BUILT): valid, but this server hasn't got it.
absl::Status NotBuilt(absl::string_view field);

// NOT_FOUND (NO_SUCH_RESOURCE).
absl::Status NoSuchResource(absl::string_view name);

// What was attached; nothing for a status made elsewhere.
std::optional<ErrorDetail> GetErrorDetail(const absl::Status& status);

}  // namespace casement::engine

#endif  // CASEMENT_SERVER_ENGINE_ERROR_H_
