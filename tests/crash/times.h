// Microseconds since 1970 and protobuf's times.

#ifndef CASEMENT_TESTS_CRASH_TIMES_H_
#define CASEMENT_TESTS_CRASH_TIMES_H_

#include <cstdint>

#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"

namespace casement::stress {

inline constexpr int64_t kSecondUs = 1'000'000;

// The times of the stress run are after 1970.
inline google::protobuf::Timestamp ToTimestamp(int64_t time_us) {
  google::protobuf::Timestamp time;
  time.set_seconds(time_us / kSecondUs);
  time.set_nanos(static_cast<int32_t>(time_us % kSecondUs) * 1000);
  return time;
}

inline int64_t FromTimestamp(const google::protobuf::Timestamp& time) {
  return time.seconds() * kSecondUs + time.nanos() / 1000;
}

inline google::protobuf::Duration ToDuration(int64_t duration_us) {
  google::protobuf::Duration duration;
  duration.set_seconds(duration_us / kSecondUs);
  duration.set_nanos(static_cast<int32_t>(duration_us % kSecondUs) * 1000);
  return duration;
}

}  // namespace casement::stress

#endif  // CASEMENT_TESTS_CRASH_TIMES_H_
