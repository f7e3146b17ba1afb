// The vocabulary of the engine: times, windows, versions and the words that a
// result or an event can bear. Plain values; nothing here has behaviour.
#ifndef CASEMENT_SERVER_ENGINE_TYPES_H_
#define CASEMENT_SERVER_ENGINE_TYPES_H_

#include <cstdint>
#include <limits>

namespace casement::engine {

// Microseconds since 1970-01-01T00:00:00Z, no leap seconds.
using TimeUs = int64_t;

// The range of event times: years 1 to 9999, both ends included.
inline constexpr TimeUs kMinEventTime = -62135596800000000;
inline constexpr TimeUs kMaxEventTime = 253402300799999999;

// A watermark is a TimeUs, or one of these. No event time reaches them.
inline constexpr TimeUs kNoWatermark = std::numeric_limits<int64_t>::min();
inline constexpr TimeUs kEndOfTime = std::numeric_limits<int64_t>::max();

// The number of a journal record of a stream: 1 for its first. The order of
// everything that follows from it.
using Version = int64_t;

// start <= t < end.
struct Window {
  TimeUs start = 0;
  TimeUs end = 0;
  friend auto operator<=>(const Window&, const Window&) = default;
};

enum class FieldType : uint8_t {
  kInt64 = 1,
  kDouble = 2,
  kBool = 3,
  kString = 4,
  kBytes = 5,
};

// Stored: numbers stay as they are.
enum class Finality : uint8_t {
  kProvisional = 1,
  kFinal = 2,
  kCorrected = 3,
  kRetracted = 4,
};

enum class Timing : uint8_t { kNone = 0, kEarly = 1, kOnTime = 2, kLate = 3 };

enum class EmitReason : uint8_t {
  kNone = 0,
  kEarlyTrigger = 1,
  kWatermark = 2,
  kLateEvents = 3,
  kSessionMerge = 4,
};

enum class SourceState : uint8_t {
  kUnchanged = 0,
  kActive = 1,
  kIdle = 2,
  kDone = 3,
};

enum class RejectReason : uint8_t {
  kMissingTime = 1,
  kTimeOutOfRange = 2,
  kTooFarAhead = 3,
  kMissingField = 4,
  kUnknownField = 5,
  kWrongType = 6,
  kValueTooLarge = 8,
  kNotUtf8 = 9,
  kInvalidTime = 10,
};
inline constexpr int kRejectReasons = 16;

// How far event time is known to have come.
struct Progress {
  TimeUs watermark = kNoWatermark;  // kEndOfTime: the stream has ended
  Version version = 0;
  bool ended() const { return watermark == kEndOfTime; }
  friend bool operator==(const Progress&, const Progress&) = default;
};

}  // namespace casement::engine

#endif  // CASEMENT_SERVER_ENGINE_TYPES_H_
