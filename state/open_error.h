// Why a store could not be opened, in words for a person (the message) and for
// a program (the kind, which travels in the status).
#ifndef CASEMENT_STATE_OPEN_ERROR_H_
#define CASEMENT_STATE_OPEN_ERROR_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace casement::state {

enum class OpenError {
  kInUse,        // another process has it
  kForeign,      // not a store, or parts of different stores
  kNewerFormat,  // a format that this program doesn't know
  kUnwritable,   // no permission, a read-only or full file system
  kCorrupt,      // damaged: the message names the file
  kOther,
};

absl::Status MakeOpenError(OpenError kind, absl::string_view message);

// The kind; nothing for a status made elsewhere.
std::optional<OpenError> GetOpenError(const absl::Status& status);

// `status` with a kind, unless it has one: kCorrupt for DATA_LOSS.
absl::Status AsOpenError(const absl::Status& status);

}  // namespace casement::state

#endif  // CASEMENT_STATE_OPEN_ERROR_H_
