// The runtime's own errors, with the names of resources as users write them.
#ifndef CASEMENT_SERVER_RUNTIME_ERRORS_H_
#define CASEMENT_SERVER_RUNTIME_ERRORS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace casement::runtime {

std::string StreamName(absl::string_view stream);
std::string ViewName(absl::string_view stream, absl::string_view view);
std::string ProducerName(absl::string_view stream, absl::string_view producer);

// UNAVAILABLE (READ_ONLY): the store is being opened anew after a failed write.
absl::Status ReadOnlyError();
// UNAVAILABLE (DRAINING).
absl::Status DrainingError();
// RESOURCE_EXHAUSTED (OVERLOADED), with a retry delay.
absl::Status OverloadedError(absl::string_view what);
// DATA_LOSS (STORE_CORRUPT).
absl::Status CorruptError(absl::string_view message);
// An error of the state folder, with its reason: STORE_CORRUPT for DATA_LOSS,
// READ_ONLY for all else.
absl::Status FromStore(const absl::Status& status);

}  // namespace casement::runtime

#endif  // CASEMENT_SERVER_RUNTIME_ERRORS_H_
