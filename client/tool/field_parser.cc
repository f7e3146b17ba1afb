#include "client/tool/field_parser.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"

namespace casement::tool {
namespace {

// The unit's microseconds.
int64_t UnitOf(TimeFormat format) {
  switch (format) {
    case TimeFormat::kSeconds:
      return 1'000'000;
    case TimeFormat::kMillis:
      return 1'000;
    default:
      return 1;
  }
}

std::string Quote(absl::string_view text) {
  constexpr size_t kMost = 40;
  if (text.size() <= kMost) return absl::StrCat("\"", text, "\"");
  return absl::StrCat("\"", text.substr(0, kMost), "...\"");
}

}  // namespace

absl::StatusOr<TimeFormat> ParseTimeFormat(absl::string_view text) {
  if (text == "rfc3339") return TimeFormat::kRfc3339;
  if (text == "s") return TimeFormat::kSeconds;
  if (text == "ms") return TimeFormat::kMillis;
  if (text == "us") return TimeFormat::kMicros;
  return absl::InvalidArgumentError(
      absl::StrCat("time format \"", text, "\" is none of rfc3339, s, ms, us"));
}

std::optional<int64_t> ParseTime(absl::string_view text, TimeFormat format,
                                 std::string* remark) {
  if (text.empty()) {
    *remark = "there is no time";
    return std::nullopt;
  }
  if (format == TimeFormat::kRfc3339) {
    absl::Time time;
    std::string error;
    // Abseil also takes words for infinity, which are no times.
    const bool digits = absl::ascii_isdigit(text[0]);
    if (digits && absl::ParseTime(absl::RFC3339_full, text, &time, &error)) {
      return absl::ToUnixMicros(time);
    }
    *remark = absl::StrCat("time ", Quote(text),
                           " is not of the form 2001-01-01T06:54:00Z");
    return std::nullopt;
  }
  int64_t number = 0;
  int64_t micros = 0;
  if (!absl::SimpleAtoi(text, &number) ||
      __builtin_mul_overflow(number, UnitOf(format), &micros)) {
    *remark = absl::StrCat("time ", Quote(text), " is not a whole number");
    return std::nullopt;
  }
  return micros;
}

client::Value ParseCsvValue(const CsvText& text, v1::FieldType type,
                            absl::string_view null_text, std::string* remark) {
  if (!text.quoted && text.text == null_text) return std::monostate();
  switch (type) {
    case v1::FIELD_TYPE_INT64: {
      int64_t value = 0;
      if (absl::SimpleAtoi(text.text, &value)) return value;
      break;
    }
    case v1::FIELD_TYPE_DOUBLE: {
      double value = 0;
      if (absl::SimpleAtod(text.text, &value)) return value;
      break;
    }
    case v1::FIELD_TYPE_BOOL: {
      bool value = false;
      if (absl::SimpleAtob(text.text, &value)) return value;
      break;
    }
    case v1::FIELD_TYPE_BYTES: {
      client::Bytes value;
      if (absl::Base64Unescape(text.text, &value.data)) return value;
      break;
    }
    default:
      return text.text;
  }
  *remark = absl::StrCat(Quote(text.text), " is not of type ", TypeName(type));
  return text.text;
}

std::string TypeName(v1::FieldType type) {
  return absl::AsciiStrToLower(
      absl::StripPrefix(v1::FieldType_Name(type), "FIELD_TYPE_"));
}

}  // namespace casement::tool
