#include "server/rpc/time_conversion.h"

#include <cstdlib>

#include "absl/status/status.h"
#include "absl/time/clock.h"

namespace casement::rpc {
namespace {

constexpr int64_t kMicros = 1'000'000;
constexpr int64_t kNanosPerMicro = 1'000;
constexpr int32_t kNanos = 1'000'000'000;
constexpr int64_t kMinSeconds = -62'135'596'800;
constexpr int64_t kMaxSeconds = 253'402'300'799;
constexpr int64_t kMaxDurationSeconds = 315'576'000'000;

static_assert(kMinSeconds * kMicros == engine::kMinEventTime);
static_assert(kMaxSeconds * kMicros + kMicros - 1 == engine::kMaxEventTime);

}  // namespace

TimeFault ToTimeUs(const google::protobuf::Timestamp& timestamp,
                   engine::TimeUs* time) {
  if (timestamp.nanos() < 0 || timestamp.nanos() >= kNanos) {
    return TimeFault::kInvalid;
  }
  if (timestamp.seconds() < kMinSeconds || timestamp.seconds() > kMaxSeconds) {
    return TimeFault::kOutOfRange;
  }
  // Nanos count forward from the second, also before 1970, so this floors.
  *time = timestamp.seconds() * kMicros + timestamp.nanos() / kNanosPerMicro;
  return TimeFault::kNone;
}

std::string Describe(TimeFault fault) {
  switch (fault) {
    case TimeFault::kNone:
      return "";
    case TimeFault::kInvalid:
      return "nanos must be from 0 to 999,999,999";
    case TimeFault::kOutOfRange:
      return "must be in the years 1 to 9999";
  }
  return "";
}

google::protobuf::Timestamp ToTimestamp(engine::TimeUs time) {
  int64_t seconds = time / kMicros;
  int64_t micros = time % kMicros;
  if (micros < 0) {
    micros += kMicros;
    --seconds;
  }
  google::protobuf::Timestamp timestamp;
  timestamp.set_seconds(seconds);
  timestamp.set_nanos(static_cast<int32_t>(micros * kNanosPerMicro));
  return timestamp;
}

absl::StatusOr<int64_t> ToDurationUs(
    const google::protobuf::Duration& duration) {
  const int64_t seconds = duration.seconds();
  const int32_t nanos = duration.nanos();
  if (nanos <= -kNanos || nanos >= kNanos || (seconds > 0 && nanos < 0) ||
      (seconds < 0 && nanos > 0)) {
    return absl::InvalidArgumentError(
        "is not a valid duration: nanos must be below one second and of the "
        "same sign as seconds");
  }
  if (seconds < -kMaxDurationSeconds || seconds > kMaxDurationSeconds) {
    return absl::InvalidArgumentError("must not exceed 10,000 years");
  }
  if (nanos % kNanosPerMicro != 0) {
    return absl::InvalidArgumentError("must be whole microseconds");
  }
  return seconds * kMicros + nanos / kNanosPerMicro;
}

google::protobuf::Duration ToDuration(int64_t us) {
  google::protobuf::Duration duration;
  duration.set_seconds(us / kMicros);
  duration.set_nanos(static_cast<int32_t>(us % kMicros * kNanosPerMicro));
  return duration;
}

void SetProgress(const engine::Progress& progress, v1::Progress* proto) {
  proto->set_version(progress.version);
  proto->set_ended(progress.ended());
  if (progress.watermark != engine::kNoWatermark && !progress.ended()) {
    *proto->mutable_watermark_time() = ToTimestamp(progress.watermark);
  }
}

void SetProgress(const engine::Progress& progress, int64_t allowed_lateness_us,
                 v1::Progress* proto) {
  SetProgress(progress, proto);
  if (proto->has_watermark_time()) {
    // A watermark and a lateness are each far from the ends of 64 bits.
    *proto->mutable_final_time() =
        ToTimestamp(progress.watermark - allowed_lateness_us);
  }
}

engine::TimeUs WallClockUs() { return absl::GetCurrentTimeNanos() / 1000; }

}  // namespace casement::rpc
