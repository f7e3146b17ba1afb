// Durations as people write them. What this is for: "1d", "90m", "1h30m",
// "250ms" in flags and in what is printed. The one invariant: what is printed
// is read back as the same number of microseconds.

#ifndef CASEMENT_CLIENT_TOOL_DURATIONS_H_
#define CASEMENT_CLIENT_TOOL_DURATIONS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/duration.pb.h"

namespace casement::tool {

// Numbers with units, one after the other: w, d (24 h), h, m, s, ms, us. "0"
// needs no unit. A minus in front is for the whole. No fractions: 1500ms.
absl::StatusOr<google::protobuf::Duration> ParseDuration(
    absl::string_view text);

// As "1d12h"; "0s" for zero. Digits below a microsecond are shown in ns.
std::string FormatDuration(const google::protobuf::Duration& duration);

}  // namespace casement::tool

#endif  // CASEMENT_CLIENT_TOOL_DURATIONS_H_
