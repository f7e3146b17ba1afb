#include "client/tool/durations.h"

#include <cctype>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace casement::tool {
namespace {

constexpr int64_t kMicros = 1'000'000;

struct Unit {
  const char* name;
  int64_t us;
};

constexpr Unit kUnits[] = {
    {"w", 7 * 86'400 * kMicros},
    {"d", 86'400 * kMicros},
    {"h", 3'600 * kMicros},
    {"ms", 1'000},
    {"us", 1},
    {"m", 60 * kMicros},
    {"s", kMicros},
};

absl::Status Bad(absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", text, "\" is not a duration: ", why,
      " (write 1d, 90m, 1h30m, 250ms; units w, d, h, m, s, ms, us)"));
}

// Takes "15m" off the front of `*rest`; false if there is no such thing.
bool TakeTerm(absl::string_view* rest, __int128* us) {
  size_t digits = 0;
  __int128 number = 0;
  while (digits < rest->size() && std::isdigit((*rest)[digits]) != 0) {
    number = number * 10 + ((*rest)[digits] - '0');
    if (++digits > 18) return false;
  }
  if (digits == 0) return false;
  rest->remove_prefix(digits);
  for (const Unit& unit : kUnits) {
    // "ms" and "us" come before "m" and "s" in the table.
    if (!absl::ConsumePrefix(rest, unit.name)) continue;
    *us += number * unit.us;
    return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<google::protobuf::Duration> ParseDuration(
    absl::string_view text) {
  absl::string_view rest = text;
  const bool negative = absl::ConsumePrefix(&rest, "-");
  google::protobuf::Duration duration;
  if (rest == "0") return duration;
  if (rest.empty()) return Bad(text, "it is empty");
  __int128 us = 0;
  while (!rest.empty()) {
    if (!TakeTerm(&rest, &us)) return Bad(text, "a number and a unit, please");
    if (us > INT64_MAX) return Bad(text, "it is too long");
  }
  if (negative) us = -us;
  duration.set_seconds(static_cast<int64_t>(us / kMicros));
  duration.set_nanos(static_cast<int32_t>(us % kMicros) * 1000);
  return duration;
}

std::string FormatDuration(const google::protobuf::Duration& duration) {
  __int128 ns = static_cast<__int128>(duration.seconds()) * 1'000'000'000 +
                duration.nanos();
  if (ns == 0) return "0s";
  std::string text = ns < 0 ? "-" : "";
  if (ns < 0) ns = -ns;
  constexpr Unit kDescending[] = {
      {"d", 86'400 * kMicros}, {"h", 3'600 * kMicros}, {"m", 60 * kMicros},
      {"s", kMicros},          {"ms", 1'000},          {"us", 1}};
  for (const Unit& unit : kDescending) {
    const __int128 unit_ns = static_cast<__int128>(unit.us) * 1000;
    if (ns < unit_ns) continue;
    absl::StrAppend(&text, static_cast<int64_t>(ns / unit_ns), unit.name);
    ns %= unit_ns;
  }
  if (ns != 0) absl::StrAppend(&text, static_cast<int64_t>(ns), "ns");
  return text;
}

}  // namespace casement::tool
