// What can be wrong with a batch: the whole of it (a status), or one event (a
// reject). Rows and columns say the same in the same words, so that equal
// batches have equal rejects whatever form they came in.
#ifndef CASEMENT_SERVER_RPC_BATCH_ERRORS_H_
#define CASEMENT_SERVER_RPC_BATCH_ERRORS_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/engine/batch.h"
#include "server/engine/types.h"

namespace casement::rpc {

// INVALID_ARGUMENT (MALFORMED_BATCH); `part` is a path from the batch on.
absl::Status Malformed(absl::string_view part, absl::string_view what);
// INVALID_ARGUMENT (BATCH_TOO_LARGE). `unit`: "events" or "bytes".
absl::Status TooLarge(absl::string_view unit, int64_t most, int64_t given);

engine::RejectedEvent MakeReject(int32_t index, engine::RejectReason reason,
                                 absl::string_view field);

// What is wrong with a string or bytes value; nothing if it may stand.
// `is_text` for string fields.
std::optional<engine::RejectReason> StringFault(absl::string_view value,
                                                bool is_text);

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_BATCH_ERRORS_H_
