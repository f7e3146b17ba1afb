// Text and JSON to typed values. What this is for: one rule for what a column
// may hold. The one invariant: text that is not of its field's type is passed
// on as text, and a time that can't be read as no time, so that it is the
// server that rejects the event, with its reason, and counts it.

#ifndef CASEMENT_CLIENT_TOOL_FIELD_PARSER_H_
#define CASEMENT_CLIENT_TOOL_FIELD_PARSER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "casement/v1/value.pb.h"
#include "client/event.h"
#include "client/tool/csv_reader.h"

namespace casement::tool {

enum class TimeFormat { kRfc3339, kSeconds, kMillis, kMicros };

// "rfc3339", "s", "ms" or "us".
absl::StatusOr<TimeFormat> ParseTimeFormat(absl::string_view text);

// Microseconds since 1970, floored. `*remark` says why there is none.
std::optional<int64_t> ParseTime(absl::string_view text, TimeFormat format,
                                 std::string* remark);

// `null_text` stands for null where it is not in quotes.
client::Value ParseCsvValue(const CsvText& text, v1::FieldType type,
                            absl::string_view null_text, std::string* remark);

// "INT64" -> "int64"
std::string TypeName(v1::FieldType type);

}  // namespace casement::tool

#endif  // CASEMENT_CLIENT_TOOL_FIELD_PARSER_H_
