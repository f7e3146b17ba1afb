// What a stream and a view are: the definitions that decide every result. Two
// equal specs over equal records give equal results. The RPC layer makes them
// from protos, with every default spelled out; Validate* is where they are
// judged.
#ifndef CASEMENT_SERVER_ENGINE_SPEC_H_
#define CASEMENT_SERVER_ENGINE_SPEC_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/engine/types.h"

namespace casement::engine {

// Limits that a definition or an event is checked against.
inline constexpr int kMaxFields = 200;
inline constexpr int kMaxAggregates = 32;
inline constexpr int kMaxGroupingFields = 32;
inline constexpr int64_t kMaxWindowsPerEvent = 10000;
inline constexpr int64_t kMaxValueBytes = 64 << 10;
inline constexpr int64_t kMaxKeyBytes = 4 << 10;
inline constexpr int kMaxBatchEvents = 65536;
// The events of a batch times the windows of each, in a view whose triggers may
// tell all of them at once, and in one that tells final results only: so much
// the results of one record can come to.
inline constexpr int64_t kMaxToldPlacements = 2'000'000;
inline constexpr int64_t kMaxBatchPlacements = 20'000'000;
inline constexpr int kMaxProducers = 10000;      // of a stream
inline constexpr int kMaxViews = 100;            // of a stream
inline constexpr int kMaxSourcePosition = 1024;  // bytes
inline constexpr int kRememberedAnswers = 64;    // of a producer
inline constexpr int64_t kDefaultFutureSkewUs = 300'000'000;

struct FieldSpec {
  std::string name;
  FieldType type = FieldType::kInt64;
  bool required = false;
  friend bool operator==(const FieldSpec&, const FieldSpec&) = default;
};

enum class WatermarkSource : uint8_t { kBoundedDelay = 1, kAsserted = 2 };
enum class Combine : uint8_t { kLeastOverProducers = 1, kGreatest = 2 };
enum class Advance : uint8_t { kAfterEachEvent = 1, kAfterEachBatch = 2 };
enum class FutureAction : uint8_t { kHold = 1, kReject = 2, kAccept = 3 };
enum class InvalidEventPolicy : uint8_t { kRejectEvent = 1, kRejectBatch = 2 };

struct WatermarkSpec {
  WatermarkSource source = WatermarkSource::kBoundedDelay;
  int64_t max_delay_us = 0;
  Combine combine = Combine::kLeastOverProducers;
  Advance advance = Advance::kAfterEachEvent;
  FutureAction future_action = FutureAction::kHold;
  int64_t max_future_skew_us = kDefaultFutureSkewUs;
  std::vector<std::string> required_producers;
  friend bool operator==(const WatermarkSpec&, const WatermarkSpec&) = default;
};

struct StreamSpec {
  std::vector<FieldSpec> fields;
  WatermarkSpec watermark;
  InvalidEventPolicy invalid_event_policy = InvalidEventPolicy::kRejectEvent;
  friend bool operator==(const StreamSpec&, const StreamSpec&) = default;

  // Position of a field, or -1.
  int FindField(absl::string_view name) const;
};

enum class WindowKind : uint8_t { kTumbling = 1, kSliding = 2, kSession = 3 };
enum class GapRule : uint8_t { kInclusive = 1, kExclusive = 2 };

struct WindowSpec {
  WindowKind kind = WindowKind::kTumbling;
  int64_t size_us = 0;
  int64_t period_us = 0;  // sliding only
  int64_t offset_us = 0;  // any; counts modulo the period (tumbling: the size)
  int64_t gap_us = 0;     // session
  GapRule gap_rule = GapRule::kInclusive;
  friend bool operator==(const WindowSpec&, const WindowSpec&) = default;
};

enum class Function : uint8_t {
  kCount = 1,
  kSum = 2,
  kMin = 3,
  kMax = 4,
  kMean = 5,
  kDistinctCount = 9,
};

struct AggregateSpec {
  std::string alias;
  Function function = Function::kCount;
  std::string field;  // empty: COUNT of events
  friend bool operator==(const AggregateSpec&, const AggregateSpec&) = default;
};

enum class LateRule : uint8_t { kWindowClosed = 1, kBehindWatermark = 2 };
enum class SessionLateCheck : uint8_t { kMerged = 1, kOwn = 2 };
enum class LateEventPolicy : uint8_t { kCount = 1, kKeep = 2 };

struct TriggerSpec {
  bool early_every_batch = false;
  bool on_time = true;  // asked only where lateness is allowed
  bool late_each_change = true;
  friend bool operator==(const TriggerSpec&, const TriggerSpec&) = default;
};

struct ViewSpec {
  // In how many windows an event can be, at most.
  int64_t WindowsPerEvent() const;
  // Whether changes of a window can bring out provisional results.
  bool TellsChanges() const {
    return trigger.early_every_batch ||
           (trigger.late_each_change && allowed_lateness_us > 0);
  }

  WindowSpec window;
  std::vector<std::string> group_by;
  std::vector<AggregateSpec> aggregates;
  int64_t allowed_lateness_us = 0;
  LateRule late_rule = LateRule::kWindowClosed;
  SessionLateCheck session_late_check = SessionLateCheck::kMerged;
  TriggerSpec trigger;
  LateEventPolicy late_event_policy = LateEventPolicy::kKeep;
  friend bool operator==(const ViewSpec&, const ViewSpec&) = default;
};

// A resource: its spec and what a user hangs on it. `create_time` is a clock
// reading that came in from outside.
struct StreamDefinition {
  std::string id;
  StreamSpec spec;
  std::string display_name;
  std::map<std::string, std::string> labels;
  TimeUs create_time = 0;
};

struct ViewDefinition {
  std::string id;
  ViewSpec spec;
  std::string display_name;
  std::map<std::string, std::string> labels;
  TimeUs create_time = 0;
};

// OK, or INVALID_ARGUMENT (INVALID_FIELD) naming at most 16 fields by their
// proto path relative to the resource, such as
// "watermark_policy.bounded_delay.max_delay" or "spec.window.tumbling.size".
absl::Status ValidateStream(const StreamSpec& spec);
absl::Status ValidateView(const ViewSpec& spec, const StreamSpec& stream);

// The proto paths in which two definitions differ (create_time and id apart);
// empty if they are equal.
std::vector<std::string> Differences(const StreamDefinition& a,
                                     const StreamDefinition& b);
std::vector<std::string> Differences(const ViewDefinition& a,
                                     const ViewDefinition& b);

// The stored form of a definition (format: definition_codec.cc). Decode is
// DATA_LOSS for bytes that Encode did not make.
std::string EncodeDefinition(const StreamDefinition& definition);
std::string EncodeDefinition(const ViewDefinition& definition);
absl::Status DecodeDefinition(absl::string_view bytes,
                              StreamDefinition* definition);
absl::Status DecodeDefinition(absl::string_view bytes,
                              ViewDefinition* definition);

// An id of a stream, view or producer: [a-z][a-z0-9-]{0,61}[a-z0-9] or one
// letter.
bool IsValidId(absl::string_view id);

}  // namespace casement::engine

#endif  // CASEMENT_SERVER_ENGINE_SPEC_H_
