// Times and durations as the case files write them, and as the API does. A time
// is a whole count of microseconds since 1970-01-01T00:00:00Z, without leap
// seconds; it is wider than 64 bits here, so that nothing a case says, and
// nothing that is worked out from it, can overflow.

#ifndef CASEMENT_TESTS_CONFORMANCE_ISO_H_
#define CASEMENT_TESTS_CONFORMANCE_ISO_H_

#include <string>

#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"

namespace casement::conformance {

using Micros = absl::int128;

// The edges of the global window; the watermark of an ended stream.
inline constexpr Micros kPlusInfinity = absl::Int128Max();
inline constexpr Micros kMinusInfinity = absl::Int128Min();

// RFC 3339 in UTC ("2026-03-01T00:04:00.25Z", up to six decimals), a string of
// digits (the count itself), "+inf" or "-inf".
absl::StatusOr<Micros> ParseTime(absl::string_view text);

// ISO 8601 ("PT10M", "P7D", "-PT2H15M", "PT0.25S", "P1W") or a string of
// digits, microseconds.
absl::StatusOr<Micros> ParseDuration(absl::string_view text);

// A string of digits with an optional minus; at most 30 of them.
absl::StatusOr<absl::int128> ParseInteger(absl::string_view text);

std::string FormatInteger(absl::int128 value);

// What ParseTime reads; digits where the year is not one of 1 to 9999.
std::string FormatTime(Micros time);

// `time` is finite. Seconds may be beyond the documented range.
google::protobuf::Timestamp ToTimestamp(Micros time);
google::protobuf::Duration ToDuration(Micros duration);
// Finer digits are floored.
Micros FromTimestamp(const google::protobuf::Timestamp& time);

}  // namespace casement::conformance

#endif  // CASEMENT_TESTS_CONFORMANCE_ISO_H_
