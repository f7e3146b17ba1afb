#include "tests/conformance/iso.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/civil_time.h"

namespace casement::conformance {
namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;
constexpr int64_t kSecondsPerDay = 86'400;
constexpr int kMostDigits = 30;

absl::Status Malformed(absl::string_view what, absl::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("not a ", what, ": \"", text, "\""));
}

bool ConsumeChar(absl::string_view* text, char c) {
  if (text->empty() || text->front() != c) return false;
  text->remove_prefix(1);
  return true;
}

// The digits at the front of `text`, which may be none.
absl::string_view ConsumeDigits(absl::string_view* text) {
  size_t count = 0;
  while (count < text->size() && absl::ascii_isdigit((*text)[count])) ++count;
  absl::string_view digits = text->substr(0, count);
  text->remove_prefix(count);
  return digits;
}

absl::int128 Value(absl::string_view digits) {
  absl::int128 value = 0;
  for (char digit : digits) value = value * 10 + (digit - '0');
  return value;
}

// Exactly `width` digits.
bool ConsumeNumber(absl::string_view* text, size_t width, int* value) {
  if (text->size() < width) return false;
  absl::string_view head = text->substr(0, width);
  if (ConsumeDigits(&head).size() != width) return false;
  *value = static_cast<int>(Value(text->substr(0, width)));
  text->remove_prefix(width);
  return true;
}

// What stands after a decimal point, as microseconds: one to six digits.
bool ConsumeFraction(absl::string_view* text, int64_t* micros) {
  absl::string_view digits = ConsumeDigits(text);
  if (digits.empty() || digits.size() > 6) return false;
  int64_t value = static_cast<int64_t>(Value(digits));
  for (size_t i = digits.size(); i < 6; ++i) value *= 10;
  *micros = value;
  return true;
}

// Seconds of `time` rounded toward the past; the rest is not negative.
absl::int128 FloorSeconds(Micros time, int64_t* rest) {
  absl::int128 seconds = time / kMicrosPerSecond;
  absl::int128 remainder = time % kMicrosPerSecond;
  if (remainder < 0) {
    remainder += kMicrosPerSecond;
    seconds -= 1;
  }
  *rest = static_cast<int64_t>(remainder);
  return seconds;
}

}  // namespace

absl::StatusOr<absl::int128> ParseInteger(absl::string_view text) {
  absl::string_view rest = text;
  const bool negative = ConsumeChar(&rest, '-');
  absl::string_view digits = ConsumeDigits(&rest);
  if (digits.empty() || digits.size() > kMostDigits || !rest.empty()) {
    return Malformed("whole number", text);
  }
  return negative ? -Value(digits) : Value(digits);
}

absl::StatusOr<Micros> ParseTime(absl::string_view text) {
  if (text == "+inf") return kPlusInfinity;
  if (text == "-inf") return kMinusInfinity;
  if (absl::StatusOr<Micros> count = ParseInteger(text); count.ok()) {
    return count;
  }
  absl::string_view rest = text;
  int year, month, day, hour, minute, second;
  int64_t micros = 0;
  const bool well_formed =
      ConsumeNumber(&rest, 4, &year) && ConsumeChar(&rest, '-') &&
      ConsumeNumber(&rest, 2, &month) && ConsumeChar(&rest, '-') &&
      ConsumeNumber(&rest, 2, &day) && ConsumeChar(&rest, 'T') &&
      ConsumeNumber(&rest, 2, &hour) && ConsumeChar(&rest, ':') &&
      ConsumeNumber(&rest, 2, &minute) && ConsumeChar(&rest, ':') &&
      ConsumeNumber(&rest, 2, &second) &&
      (!ConsumeChar(&rest, '.') || ConsumeFraction(&rest, &micros)) &&
      ConsumeChar(&rest, 'Z') && rest.empty();
  if (!well_formed || year == 0 || hour > 23 || minute > 59 || second > 59) {
    return Malformed("time", text);
  }
  const absl::CivilDay civil(year, month, day);
  // CivilDay turns the 30th of February into one of March.
  if (civil.month() != month || civil.day() != day) {
    return Malformed("time", text);
  }
  const int64_t days = civil - absl::CivilDay(1970, 1, 1);
  const int64_t seconds =
      days * kSecondsPerDay + hour * 3600 + minute * 60 + second;
  return Micros(seconds) * kMicrosPerSecond + micros;
}

absl::StatusOr<Micros> ParseDuration(absl::string_view text) {
  if (absl::StatusOr<Micros> count = ParseInteger(text); count.ok()) {
    return count;
  }
  absl::string_view rest = text;
  const bool negative = ConsumeChar(&rest, '-');
  if (!ConsumeChar(&rest, 'P')) return Malformed("duration", text);
  struct Unit {
    char letter;
    bool of_time;
    int64_t seconds;
  };
  static constexpr Unit kUnits[] = {{'W', false, 7 * kSecondsPerDay},
                                    {'D', false, kSecondsPerDay},
                                    {'H', true, 3600},
                                    {'M', true, 60},
                                    {'S', true, 1}};
  Micros total = 0;
  bool in_time = false;
  bool any = false;
  // Each unit at most once, in the order of kUnits.
  size_t next = 0;
  while (!rest.empty()) {
    if (!in_time && ConsumeChar(&rest, 'T')) {
      in_time = true;
      any = false;
      continue;
    }
    absl::string_view digits = ConsumeDigits(&rest);
    int64_t fraction = 0;
    const bool has_fraction = ConsumeChar(&rest, '.');
    if (digits.empty() || digits.size() > 18 ||
        (has_fraction && !ConsumeFraction(&rest, &fraction)) || rest.empty()) {
      return Malformed("duration", text);
    }
    while (next < 5 && (kUnits[next].letter != rest.front() ||
                        kUnits[next].of_time != in_time)) {
      ++next;
    }
    if (next == 5 || (has_fraction && rest.front() != 'S')) {
      return Malformed("duration", text);
    }
    total += Value(digits) * kUnits[next].seconds * kMicrosPerSecond + fraction;
    ++next;
    rest.remove_prefix(1);
    any = true;
  }
  if (!any) return Malformed("duration", text);
  return negative ? -total : total;
}

std::string FormatInteger(absl::int128 value) {
  if (value == 0) return "0";
  const bool negative = value < 0;
  std::string digits;
  for (; value != 0; value /= 10) {
    const int digit = static_cast<int>(value % 10);
    digits.insert(digits.begin(),
                  static_cast<char>('0' + (digit < 0 ? -digit : digit)));
  }
  return negative ? absl::StrCat("-", digits) : digits;
}

std::string FormatTime(Micros time) {
  if (time == kPlusInfinity) return "+inf";
  if (time == kMinusInfinity) return "-inf";
  int64_t micros = 0;
  const absl::int128 seconds = FloorSeconds(time, &micros);
  static constexpr int64_t kYear1 = -62'135'596'800;
  static constexpr int64_t kYear10000 = 253'402'300'800;
  if (seconds < kYear1 || seconds >= kYear10000) return FormatInteger(time);
  const absl::CivilSecond civil =
      absl::CivilSecond(1970, 1, 1) + static_cast<int64_t>(seconds);
  std::string text = absl::StrFormat(
      "%04d-%02d-%02dT%02d:%02d:%02d", civil.year(), civil.month(), civil.day(),
      civil.hour(), civil.minute(), civil.second());
  if (micros != 0) absl::StrAppendFormat(&text, ".%06d", micros);
  return text + "Z";
}

google::protobuf::Timestamp ToTimestamp(Micros time) {
  int64_t micros = 0;
  google::protobuf::Timestamp result;
  result.set_seconds(static_cast<int64_t>(FloorSeconds(time, &micros)));
  result.set_nanos(static_cast<int32_t>(micros * 1000));
  return result;
}

google::protobuf::Duration ToDuration(Micros duration) {
  google::protobuf::Duration result;
  result.set_seconds(static_cast<int64_t>(duration / kMicrosPerSecond));
  result.set_nanos(static_cast<int32_t>(duration % kMicrosPerSecond) * 1000);
  return result;
}

Micros FromTimestamp(const google::protobuf::Timestamp& time) {
  int64_t nanos = time.nanos();
  int64_t micros = nanos / 1000;
  if (nanos % 1000 < 0) --micros;
  return Micros(time.seconds()) * kMicrosPerSecond + micros;
}

}  // namespace casement::conformance
