// Batches in rows -> columns in memory. Bad events are set apart; each is named
// with its first fault, in the order: time, values that are wrong by the order
// of the stream's fields, required fields that are missing, fields that the
// stream hasn't.
#ifndef CASEMENT_SERVER_RPC_ROW_DECODER_H_
#define CASEMENT_SERVER_RPC_ROW_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "casement/v1/ingest.pb.h"
#include "server/engine/batch.h"
#include "server/engine/spec.h"

namespace casement::rpc {

class RowDecoder {
 public:
  // `stream` outlives the decoder.
  explicit RowDecoder(const engine::StreamSpec& stream);

  // INVALID_ARGUMENT for a batch with too many events or bytes. `out` is empty
  // before.
  absl::Status Decode(const v1::RowBatch& rows, engine::EventBatch* out);

 private:
  struct Fault {
    engine::RejectReason reason = engine::RejectReason::kMissingTime;
    int field = -1;             // of the stream; -1: the time
    absl::string_view unknown;  // a field that the stream hasn't
  };
  struct FieldValue {
    int field;
    const v1::Value* value;
  };

  // Collects the event's values in `values_`; false if it is bad.
  bool Check(const v1::Event& event, engine::TimeUs* time, Fault* fault);
  void CheckValue(int field, const v1::Value& value, Fault* fault);
  void Store(int row, const FieldValue& value, engine::EventBatch* out);
  uint32_t Intern(absl::string_view symbol, engine::SymbolTable* symbols);

  const engine::StreamSpec& stream_;
  absl::flat_hash_map<absl::string_view, int> field_index_;
  std::vector<int> required_;

  // Of the batch at hand; kept to keep their memory.
  int event_count_ = 0;
  size_t size_bound_ = 0;  // at least what the good events take on the wire
  uint64_t event_number_ = 0;
  std::vector<uint64_t> seen_;  // a field: the last event that had a value
  std::vector<FieldValue> values_;
  std::vector<int32_t> value_counts_;  // a field: rows with a value
  absl::flat_hash_map<absl::string_view, uint32_t> symbol_index_;
};

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_ROW_DECODER_H_
