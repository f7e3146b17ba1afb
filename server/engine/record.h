// The inputs of a stream's state machine. Each is one journal record with one
// number, its version, and all that a stream is follows from them. Encode and
// decode are the journal's payload format (grammar: record.cc).
#ifndef CASEMENT_SERVER_ENGINE_RECORD_H_
#define CASEMENT_SERVER_ENGINE_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/engine/batch.h"
#include "server/engine/spec.h"
#include "server/engine/types.h"

namespace casement::engine {

// A producer's batch as it was admitted.
struct BatchRecord {
  std::string producer;
  int64_t epoch = 0;
  int64_t sequence = 0;
  // Of the whole content; set it with SetDigest before admission.
  uint64_t digest = 0;
  // The server's clock at arrival; unset: no clock, so no future guard.
  std::optional<TimeUs> arrival_time;
  EventBatch events;
  std::optional<TimeUs> asserted_watermark;
  SourceState source_state = SourceState::kUnchanged;
  std::optional<std::string> source_position;
};

// From all the content but epoch, sequence and arrival time.
void SetDigest(BatchRecord* batch);

// Raises a producer's epoch, or makes the producer.
struct OpenProducerRecord {
  std::string producer;
};

struct CreateViewRecord {
  ViewDefinition definition;
};

struct DeleteViewRecord {
  uint32_t view_number = 0;
};

struct EndStreamRecord {};

using Record = std::variant<BatchRecord, OpenProducerRecord, CreateViewRecord,
                            DeleteViewRecord, EndStreamRecord>;

// `stream` gives the types of the columns. Decode is DATA_LOSS for bytes that
// Encode did not make; it never reads beyond them.
std::string EncodeRecord(const Record& record, const StreamSpec& stream);
absl::StatusOr<Record> DecodeRecord(absl::string_view bytes,
                                    const StreamSpec& stream);

}  // namespace casement::engine

#endif  // CASEMENT_SERVER_ENGINE_RECORD_H_
