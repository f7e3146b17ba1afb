// What a step brings out: the same form for what a case expects and for what
// the service sent, so that the two can be compared. Lists are bags: their
// order means nothing.

#ifndef CASEMENT_TESTS_CONFORMANCE_OUTCOME_H_
#define CASEMENT_TESTS_CONFORMANCE_OUTCOME_H_

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tests/conformance/iso.h"

namespace casement::conformance {

// One aggregate's value.
struct AggValue {
  enum class Kind { kNull, kInt64, kDouble, kString, kDecimal };
  Kind kind = Kind::kNull;
  int64_t int64_value = 0;
  double double_value = 0;
  // A string's own text; a decimal's digits.
  std::string text;

  static AggValue Null() { return {}; }
  static AggValue Int64(int64_t value);
  static AggValue Double(double value);
  static AggValue String(std::string value);
  static AggValue Decimal(std::string digits);
};

// The key of a result. No value: the null key, or a pipeline without keys.
using MaybeKey = std::optional<std::string>;

struct WindowRow {
  MaybeKey key;
  Micros start = 0;
  // Not of sessions.
  std::optional<Micros> end;
  // The time of the last event; of sessions only.
  std::optional<Micros> last;
  // In the order of the pipeline's aggregates.
  std::vector<AggValue> values;
};

// What a case knows a session by.
struct KeyAndStart {
  MaybeKey key;
  Micros start = 0;
  bool operator<(const KeyAndStart& other) const {
    return std::tie(key, start) < std::tie(other.key, other.start);
  }
};

struct LatePlace {
  std::string id;
  Micros start = 0;
  Micros end = 0;
};

struct Rejected {
  std::string id;
  std::string reason;
};

// No value: there is none yet. kPlusInfinity: the stream has ended.
using Watermark = std::optional<Micros>;

struct StepOutcome {
  std::vector<WindowRow> finals;
  std::vector<WindowRow> updates;
  std::vector<KeyAndStart> retracts;
  std::vector<std::string> late;
  std::vector<LatePlace> late_windows;
  std::vector<std::string> unassigned;
  std::vector<Rejected> rejected;
  std::vector<std::string> duplicates;
  // Outer: whether it is told at all.
  std::optional<Watermark> watermark;
};

struct EndOutcome {
  std::vector<WindowRow> open;
  std::optional<Watermark> watermark;
  std::optional<int64_t> accepted;
  std::optional<int64_t> late;
};

}  // namespace casement::conformance

#endif  // CASEMENT_TESTS_CONFORMANCE_OUTCOME_H_
