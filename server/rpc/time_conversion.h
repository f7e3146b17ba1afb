// Protobuf's times and durations <-> microseconds. Times are floored toward the
// past; a bound beyond the years 1 to 9999 goes out as it is.
#ifndef CASEMENT_SERVER_RPC_TIME_CONVERSION_H_
#define CASEMENT_SERVER_RPC_TIME_CONVERSION_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "casement/v1/window.pb.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"
#include "server/engine/types.h"

namespace casement::rpc {

enum class TimeFault { kNone, kInvalid, kOutOfRange };

// kInvalid: nanos not in [0, 10^9). kOutOfRange: not in the years 1 to 9999.
// `time` is set only if there is no fault.
TimeFault ToTimeUs(const google::protobuf::Timestamp& timestamp,
                   engine::TimeUs* time);
// What is wrong, for people.
std::string Describe(TimeFault fault);

google::protobuf::Timestamp ToTimestamp(engine::TimeUs time);

// INVALID_ARGUMENT, with what is wrong as its message, for a duration that is
// not one, is out of range, or has digits below a microsecond.
absl::StatusOr<int64_t> ToDurationUs(
    const google::protobuf::Duration& duration);
google::protobuf::Duration ToDuration(int64_t us);

// Of a stream.
void SetProgress(const engine::Progress& progress, v1::Progress* proto);
// Of a view, which also tells up to where its windows are final.
void SetProgress(const engine::Progress& progress, int64_t allowed_lateness_us,
                 v1::Progress* proto);

// The machine's clock, for what only people read.
engine::TimeUs WallClockUs();

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_TIME_CONVERSION_H_
