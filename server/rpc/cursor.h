// A subscriber's place in a view's results, as opaque bytes. It names the log
// for good: a cursor of another view, another store, or another life of the
// same name is told apart, never misread.
#ifndef CASEMENT_SERVER_RPC_CURSOR_H_
#define CASEMENT_SERVER_RPC_CURSOR_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/runtime/runtime.h"

namespace casement::rpc {

struct Cursor {
  uint64_t store = 0;  // hash of the store's id
  uint32_t stream_number = 0;
  uint32_t view_number = 0;
  runtime::LogPosition position;
};

std::string EncodeCursor(const runtime::LogIdentity& log,
                         const runtime::LogPosition& position);

// INVALID_ARGUMENT (CURSOR_INVALID) for bytes that EncodeCursor did not make.
absl::StatusOr<Cursor> DecodeCursor(absl::string_view bytes);

// OK if the cursor is of this log, else INVALID_ARGUMENT (CURSOR_INVALID) with
// the cause.
absl::Status CheckCursor(const Cursor& cursor, const runtime::LogIdentity& log);

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_CURSOR_H_
