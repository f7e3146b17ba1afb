// Values as text: for JSON, for CSV and for people. What this is for:
// protobuf's own JSON fails for times outside the years 1 to 9999 and writes
// int64 as text. The one invariant: what is written is exact: int64 as
// integers, doubles in the shortest form that reads back as the same number,
// times to the microsecond in UTC.

#ifndef CASEMENT_CLIENT_TOOL_VALUES_H_
#define CASEMENT_CLIENT_TOOL_VALUES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "casement/v1/value.pb.h"
#include "casement/v1/window.pb.h"

namespace casement::tool {

// "2001-01-01T06:54:00Z", with six more digits only where they are not zero.
// Outside the years 1 to 9999 the microseconds since 1970, in decimal.
std::string FormatTime(const google::protobuf::Timestamp& time);

// "NaN", "Infinity" and "-Infinity" for what is no number.
std::string FormatDouble(double value);

// With quotes and escapes. What is not UTF-8 becomes U+FFFD.
std::string JsonString(absl::string_view text);
std::string JsonTime(bool present, const google::protobuf::Timestamp& time);
std::string JsonDouble(double value);
// A part of a key; bytes in base64.
std::string JsonValue(const v1::Value& value);
// An aggregate; a decimal beyond int64 as a string. A mean is its value.
std::string JsonValue(const v1::AggregateValue& value);

// The same without quotes, for tables and CSV; nulls are empty.
std::string TextValue(const v1::Value& value);
std::string TextValue(const v1::AggregateValue& value);

// A field of a CSV record: quoted where it has to be, or where it is an empty
// text (an empty field without quotes is null).
std::string CsvField(absl::string_view text, bool is_null);

}  // namespace casement::tool

#endif  // CASEMENT_CLIENT_TOOL_VALUES_H_
