// Results as they leave the engine and as they are stored. The engine writes a
// result once, as bytes, into the log entry that subscribers read and, if it is
// final, into the row that readers find; both decode to a Result.
#ifndef CASEMENT_SERVER_ENGINE_RESULT_H_
#define CASEMENT_SERVER_ENGINE_RESULT_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/engine/spec.h"
#include "server/engine/types.h"

namespace casement::engine {

// The value of an aggregate or of a key part. monostate is null.
struct Bytes {
  std::string value;
  friend bool operator==(const Bytes&, const Bytes&) = default;
};
// An int64 sum beyond int64, in decimal.
struct Decimal {
  std::string value;
  friend bool operator==(const Decimal&, const Decimal&) = default;
};
using ScalarValue = std::variant<std::monostate, int64_t, double, bool,
                                 std::string, Bytes, Decimal>;
struct MeanValue {
  double value = 0;
  ScalarValue sum;  // int64_t, double or Decimal
  int64_t count = 0;
  friend bool operator==(const MeanValue&, const MeanValue&) = default;
};
using AggregateValue = std::variant<std::monostate, int64_t, double, bool,
                                    std::string, Bytes, Decimal, MeanValue>;

struct Result {
  Window window;
  TimeUs closing_time = 0;
  std::string key;  // encoded; see DecodeKey
  Finality finality = Finality::kFinal;
  EmitReason reason = EmitReason::kNone;
  Timing timing = Timing::kNone;
  // Of a RETRACTED row: what the row was.
  Finality retracted_finality = Finality::kProvisional;
  Version version = 0;
  std::vector<AggregateValue> values;  // none if RETRACTED
  int64_t event_count = 0;
  TimeUs first_event_time = 0;
  TimeUs last_event_time = 0;
  bool partial_span = false;
  // While provisional: the watermark that makes it final.
  TimeUs final_at = 0;
  std::vector<Window> replaced_windows;
};

// A log entry is a Result without its version, which its place tells.
absl::StatusOr<Result> DecodeLogEntry(absl::string_view bytes, Version version);

// A row: version, log entry, and the mergeable state of the aggregates.
absl::StatusOr<Result> DecodeRow(absl::string_view bytes);

// Only what a filter needs, without decoding the rest.
struct EntryFinality {
  Finality finality = Finality::kFinal;
  Finality retracted_finality = Finality::kProvisional;
};
absl::StatusOr<EntryFinality> PeekFinality(absl::string_view log_entry);

// The parts of an encoded key, in the order of `group_by`. Encoded keys order
// bytewise as their parts do: nulls first, then by value.
absl::StatusOr<std::vector<ScalarValue>> DecodeKey(absl::string_view key);

}  // namespace casement::engine

#endif  // CASEMENT_SERVER_ENGINE_RESULT_H_
