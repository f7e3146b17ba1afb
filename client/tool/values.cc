#include "client/tool/values.h"

#include <charconv>
#include <cmath>
#include <cstdint>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "client/event.h"

namespace casement::tool {
namespace {

// 0001-01-01T00:00:00Z and 10000-01-01T00:00:00Z.
constexpr int64_t kFirstSecond = -62'135'596'800;
constexpr int64_t kEndSecond = 253'402'300'800;

std::string DecimalText(__int128 value) {
  if (value == 0) return "0";
  std::string text;
  const bool negative = value < 0;
  for (; value != 0; value /= 10) {
    const int digit = static_cast<int>(value % 10);
    text.insert(text.begin(),
                static_cast<char>('0' + (negative ? -digit : digit)));
  }
  return negative ? absl::StrCat("-", text) : text;
}

// How many bytes of `text` are one UTF-8 character; 0 if it begins none.
size_t CharacterBytes(absl::string_view text) {
  for (size_t bytes = 1; bytes <= 4 && bytes <= text.size(); ++bytes) {
    if (client::IsUtf8(text.substr(0, bytes))) return bytes;
  }
  return 0;
}

void AppendEscaped(char c, std::string* out) {
  switch (c) {
    case '"':
      out->append("\\\"");
      return;
    case '\\':
      out->append("\\\\");
      return;
    case '\n':
      out->append("\\n");
      return;
    case '\r':
      out->append("\\r");
      return;
    case '\t':
      out->append("\\t");
      return;
    default:
      break;
  }
  if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
    absl::StrAppendFormat(out, "\\u%04x", static_cast<unsigned char>(c));
  } else {
    out->push_back(c);
  }
}

std::string TopKJson(const v1::AggregateValue::TopK& top_k) {
  return absl::StrCat("[",
                      absl::StrJoin(top_k.entries(), ",",
                                    [](std::string* out, const auto& entry) {
                                      absl::StrAppend(
                                          out,
                                          "{\"item\":", JsonValue(entry.item()),
                                          ",\"count\":", entry.count(),
                                          ",\"error\":", entry.error(), "}");
                                    }),
                      "]");
}

}  // namespace

std::string FormatTime(const google::protobuf::Timestamp& time) {
  if (time.seconds() < kFirstSecond || time.seconds() >= kEndSecond) {
    return DecimalText(static_cast<__int128>(time.seconds()) * 1'000'000 +
                       time.nanos() / 1000);
  }
  std::string text = absl::FormatTime("%E4Y-%m-%dT%H:%M:%S",
                                      absl::FromUnixSeconds(time.seconds()),
                                      absl::UTCTimeZone());
  const int micros = time.nanos() / 1000;
  if (micros != 0) absl::StrAppendFormat(&text, ".%06d", micros);
  return absl::StrCat(text, "Z");
}

std::string FormatDouble(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  char text[32];
  const std::to_chars_result end =
      std::to_chars(text, text + sizeof(text), value);
  return std::string(text, end.ptr);
}

std::string JsonString(absl::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const size_t bytes = CharacterBytes(text);
    if (bytes == 0) {
      out.append("\xEF\xBF\xBD");
      text.remove_prefix(1);
      continue;
    }
    if (bytes == 1) {
      AppendEscaped(text[0], &out);
    } else {
      out.append(text.data(), bytes);
    }
    text.remove_prefix(bytes);
  }
  out.push_back('"');
  return out;
}

std::string JsonTime(bool present, const google::protobuf::Timestamp& time) {
  return present ? JsonString(FormatTime(time)) : "null";
}

std::string JsonDouble(double value) {
  const std::string text = FormatDouble(value);
  return std::isfinite(value) ? text : JsonString(text);
}

std::string JsonValue(const v1::Value& value) {
  switch (value.kind_case()) {
    case v1::Value::kInt64Value:
      return absl::StrCat(value.int64_value());
    case v1::Value::kDoubleValue:
      return JsonDouble(value.double_value());
    case v1::Value::kBoolValue:
      return value.bool_value() ? "true" : "false";
    case v1::Value::kStringValue:
    case v1::Value::kBytesValue:
      return JsonString(TextValue(value));
    case v1::Value::KIND_NOT_SET:
      break;
  }
  return "null";
}

std::string JsonValue(const v1::AggregateValue& value) {
  switch (value.kind_case()) {
    case v1::AggregateValue::kInt64Value:
    case v1::AggregateValue::kBoolValue:
      return TextValue(value);
    case v1::AggregateValue::kDoubleValue:
      return JsonDouble(value.double_value());
    case v1::AggregateValue::kMean:
      return JsonDouble(value.mean().value());
    case v1::AggregateValue::kStringValue:
    case v1::AggregateValue::kBytesValue:
    case v1::AggregateValue::kDecimalValue:
      return JsonString(TextValue(value));
    case v1::AggregateValue::kQuantiles:
    case v1::AggregateValue::kHistogram:
    case v1::AggregateValue::kTopK:
      return TextValue(value);
    case v1::AggregateValue::KIND_NOT_SET:
      break;
  }
  return "null";
}

std::string TextValue(const v1::Value& value) {
  switch (value.kind_case()) {
    case v1::Value::kStringValue:
      return value.string_value();
    case v1::Value::kBytesValue:
      return absl::Base64Escape(value.bytes_value());
    case v1::Value::kDoubleValue:
      return FormatDouble(value.double_value());
    case v1::Value::KIND_NOT_SET:
      return "";
    default:
      return JsonValue(value);
  }
}

std::string TextValue(const v1::AggregateValue& value) {
  switch (value.kind_case()) {
    case v1::AggregateValue::kInt64Value:
      return absl::StrCat(value.int64_value());
    case v1::AggregateValue::kDoubleValue:
      return FormatDouble(value.double_value());
    case v1::AggregateValue::kBoolValue:
      return value.bool_value() ? "true" : "false";
    case v1::AggregateValue::kStringValue:
      return value.string_value();
    case v1::AggregateValue::kBytesValue:
      return absl::Base64Escape(value.bytes_value());
    case v1::AggregateValue::kDecimalValue:
      return value.decimal_value();
    case v1::AggregateValue::kMean:
      return FormatDouble(value.mean().value());
    case v1::AggregateValue::kQuantiles:
      return absl::StrCat("[",
                          absl::StrJoin(value.quantiles().values(), ",",
                                        [](std::string* out, double number) {
                                          out->append(JsonDouble(number));
                                        }),
                          "]");
    case v1::AggregateValue::kHistogram:
      return absl::StrCat("[", absl::StrJoin(value.histogram().counts(), ","),
                          "]");
    case v1::AggregateValue::kTopK:
      return TopKJson(value.top_k());
    case v1::AggregateValue::KIND_NOT_SET:
      break;
  }
  return "";
}

std::string CsvField(absl::string_view text, bool is_null) {
  if (is_null) return "";
  const bool plain =
      !text.empty() && text.find_first_of(",\"\r\n") == absl::string_view::npos;
  if (plain) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  out.push_back('"');
  return out;
}

}  // namespace casement::tool
