#include "tests/conformance/values.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace casement::conformance {
namespace {

bool FitsInt64(absl::int128 value) {
  return value >= std::numeric_limits<int64_t>::min() &&
         value <= std::numeric_limits<int64_t>::max();
}

// The whole number that `json` is in an int64 field, of whatever width.
std::optional<absl::int128> AsInteger(const Json& json) {
  if (json.is_number_unsigned()) return absl::int128(json.get<uint64_t>());
  if (json.is_number_integer()) return absl::int128(json.get<int64_t>());
  if (!json.is_string()) return std::nullopt;
  absl::StatusOr<absl::int128> digits = ParseInteger(json.get<std::string>());
  if (!digits.ok()) return std::nullopt;
  return *digits;
}

// The number that `json` is in a double field.
std::optional<double> AsDouble(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (!json.is_string()) return std::nullopt;
  const std::string text = json.get<std::string>();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (text == "-0.0") return -0.0;
  return std::nullopt;
}

// As what it is, whatever the field is. A list or an object is bytes, which
// no field of a case takes.
v1::Value AsItIs(const Json& json) {
  v1::Value value;
  if (json.is_boolean()) {
    value.set_bool_value(json.get<bool>());
  } else if (json.is_string()) {
    value.set_string_value(json.get<std::string>());
  } else if (json.is_number_float()) {
    value.set_double_value(json.get<double>());
  } else if (std::optional<absl::int128> whole = AsInteger(json);
             whole.has_value() && FitsInt64(*whole)) {
    value.set_int64_value(static_cast<int64_t>(*whole));
  } else if (whole.has_value()) {
    value.set_string_value(FormatInteger(*whole));
  } else {
    value.set_bytes_value(json.dump());
  }
  return value;
}

absl::Status NotA(const std::string& type, const Json& json) {
  return absl::InvalidArgumentError(
      absl::StrCat("is not a value of type \"", type, "\": ", json.dump()));
}

}  // namespace

AggValue AggValue::Int64(int64_t value) {
  AggValue result;
  result.kind = Kind::kInt64;
  result.int64_value = value;
  return result;
}

AggValue AggValue::Double(double value) {
  AggValue result;
  result.kind = Kind::kDouble;
  result.double_value = value;
  return result;
}

AggValue AggValue::String(std::string value) {
  AggValue result;
  result.kind = Kind::kString;
  result.text = std::move(value);
  return result;
}

AggValue AggValue::Decimal(std::string digits) {
  AggValue result;
  result.kind = Kind::kDecimal;
  result.text = std::move(digits);
  return result;
}

FieldValue ToFieldValue(const Json& json, const std::string& type) {
  FieldValue result;
  if (json.is_null()) return result;
  if (type == "int64") {
    std::optional<absl::int128> whole = AsInteger(json);
    if (whole.has_value() && FitsInt64(*whole)) {
      result.value.set_int64_value(static_cast<int64_t>(*whole));
      return result;
    }
  } else if (type == "double") {
    if (std::optional<double> number = AsDouble(json); number.has_value()) {
      result.value.set_double_value(*number);
      return result;
    }
  } else if (type == "string" && json.is_string()) {
    result.value.set_string_value(json.get<std::string>());
    return result;
  }
  result.value = AsItIs(json);
  result.fits = false;
  return result;
}

absl::StatusOr<AggValue> ParseExpectedValue(const Json& json,
                                            const std::string& type) {
  if (json.is_null()) return AggValue::Null();
  if (json.is_object()) {
    if (json.size() != 1 || !json.contains("overflow")) return NotA(type, json);
    std::optional<absl::int128> whole = AsInteger(json["overflow"]);
    if (!whole.has_value() || FitsInt64(*whole)) return NotA(type, json);
    return AggValue::Decimal(FormatInteger(*whole));
  }
  if (type == "int64") {
    std::optional<absl::int128> whole = AsInteger(json);
    if (whole.has_value() && FitsInt64(*whole)) {
      return AggValue::Int64(static_cast<int64_t>(*whole));
    }
  } else if (type == "double") {
    std::optional<double> number = AsDouble(json);
    if (number.has_value()) return AggValue::Double(*number);
  } else if (type == "string" && json.is_string()) {
    return AggValue::String(json.get<std::string>());
  }
  return NotA(type, json);
}

absl::StatusOr<AggValue> FromAggregateValue(const v1::AggregateValue& value,
                                            const std::string& fn) {
  switch (value.kind_case()) {
    case v1::AggregateValue::KIND_NOT_SET:
      return AggValue::Null();
    case v1::AggregateValue::kInt64Value:
      return AggValue::Int64(value.int64_value());
    case v1::AggregateValue::kDoubleValue:
      if (fn == "avg") break;
      return AggValue::Double(value.double_value());
    case v1::AggregateValue::kStringValue:
      return AggValue::String(value.string_value());
    case v1::AggregateValue::kDecimalValue:
      return AggValue::Decimal(value.decimal_value());
    case v1::AggregateValue::kMean:
      if (fn != "avg" || !value.mean().has_sum() || value.mean().count() <= 0) {
        break;
      }
      return AggValue::Double(value.mean().value());
    default:
      break;
  }
  return absl::InternalError(absl::StrCat(
      "a value that ", fn, " can't have: ", value.ShortDebugString()));
}

}  // namespace casement::conformance
