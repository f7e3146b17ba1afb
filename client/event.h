// One event, as a program makes it. What this is for: events that read like
// what they say, in either wire form. The one invariant: an event holds what
// it was given, also what the server will refuse; nothing is stamped, clipped
// or converted on the way, but times are floored to microseconds.

#ifndef CASEMENT_CLIENT_EVENT_H_
#define CASEMENT_CLIENT_EVENT_H_

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "casement/v1/ingest.pb.h"

namespace casement::client {

// A value of type BYTES; plain strings are of type STRING.
struct Bytes {
  std::string data;

  bool operator==(const Bytes&) const = default;
};

// A null is `std::monostate`.
using Value =
    std::variant<std::monostate, int64_t, double, bool, std::string, Bytes>;

// Integers that fit in an int64, whatever their type; not bool.
template <typename T>
concept Int64Like = std::integral<T> && !std::same_as<T, bool> &&
                    (std::signed_integral<T> || sizeof(T) < sizeof(int64_t));

// Event(time).Set("origin", "LAS").Set("delay_min", 5)
class Event {
 public:
  // Without a time: the server rejects it, but on a stream whose event time is
  // the time of arrival.
  Event() = default;
  explicit Event(absl::Time time);
  static Event AtMicros(int64_t time_us);

  // Sets a field, or replaces its value. A field that isn't set is null.
  Event& Set(absl::string_view field, Value value);
  template <Int64Like T>
  Event& Set(absl::string_view field, T value) {
    return Set(field, Value(static_cast<int64_t>(value)));
  }
  Event& Set(absl::string_view field, double value) {
    return Set(field, Value(value));
  }
  Event& Set(absl::string_view field, bool value) {
    return Set(field, Value(value));
  }
  Event& Set(absl::string_view field, const char* value) {
    return Set(field, Value(std::string(value)));
  }
  Event& Set(absl::string_view field, std::string value) {
    return Set(field, Value(std::move(value)));
  }

  // For streams that deduplicate by event id.
  Event& SetId(std::string id);

  // A number of the caller's own (a line number), told back when the event is
  // rejected. It does not travel.
  Event& SetTag(int64_t tag);

  const std::optional<int64_t>& time_us() const { return time_us_; }
  const std::vector<std::pair<std::string, Value>>& fields() const {
    return fields_;
  }
  const std::string& id() const { return id_; }
  int64_t tag() const { return tag_; }

 private:
  std::optional<int64_t> time_us_;
  std::vector<std::pair<std::string, Value>> fields_;
  std::string id_;
  int64_t tag_ = 0;
};

// The row form of an event. It can't hold text that is not UTF-8: protobuf
// would make the whole request unreadable. False then, and `*row` is unusable.
[[nodiscard]] bool ToRow(const Event& event, v1::Event* row);

// At least the bytes that `ToRow` takes on the wire.
int64_t MaxRowBytes(const Event& event);

// Whether `text` is well-formed UTF-8.
bool IsUtf8(absl::string_view text);

// Microseconds since 1970 as a Timestamp, floored toward the past.
google::protobuf::Timestamp ToTimestamp(int64_t time_us);
google::protobuf::Timestamp ToTimestamp(absl::Time time);

}  // namespace casement::client

#endif  // CASEMENT_CLIENT_EVENT_H_
