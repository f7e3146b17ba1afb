// Batches in columns -> columns in memory. The form is checked as a whole first
// (a batch that doesn't hold together is malformed and leaves nothing), then
// bad events are set apart, named as rows name them. Nothing is allocated for
// an event; text is checked once for each symbol.
#ifndef CASEMENT_SERVER_RPC_COLUMN_DECODER_H_
#define CASEMENT_SERVER_RPC_COLUMN_DECODER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "casement/v1/ingest.pb.h"
#include "server/engine/batch.h"
#include "server/engine/spec.h"

namespace casement::rpc {

class ColumnDecoder {
 public:
  // `stream` outlives the decoder.
  explicit ColumnDecoder(const engine::StreamSpec& stream);

  // INVALID_ARGUMENT names the part that is malformed. `out` is empty before.
  absl::Status Decode(const v1::ColumnBatch& batch, engine::EventBatch* out);

 private:
  // The form.
  absl::Status CheckForm(const v1::ColumnBatch& batch);
  absl::Status MatchColumns(const v1::ColumnBatch& batch);
  absl::Status CheckColumn(const std::string& path, const v1::Column& column,
                           engine::FieldType type,
                           const v1::ColumnBatch& batch) const;
  absl::Status CheckIndices(const std::string& path,
                            const v1::SymbolArray& symbols,
                            const std::string& nulls, int dictionary) const;
  absl::Status SumTimes(const v1::ColumnBatch& batch);

  // The events.
  void Reject(int row, engine::RejectReason reason, absl::string_view field,
              engine::EventBatch* out);
  void RejectTimes(const v1::ColumnBatch& batch, engine::EventBatch* out);
  void RejectSymbols(int field, const v1::Column& column,
                     engine::EventBatch* out);
  void RejectMissing(int field, engine::EventBatch* out);
  void RejectBytes(int field, const v1::Column& column,
                   engine::EventBatch* out);
  void CheckSymbols(const v1::ColumnBatch& batch);

  // What is left.
  void CopyTimes(engine::EventBatch* out) const;
  void CopyColumn(const v1::Column& column, engine::FieldType type,
                  engine::EventBatch* out, engine::Column* to) const;
  void CopyNulls(const std::string& bitmap, engine::Column* to) const;
  template <typename From, typename To>
  void CopyValues(const From& from, std::vector<To>* to) const;

  const engine::StreamSpec& stream_;
  absl::flat_hash_map<absl::string_view, int> field_index_;

  // Of the batch at hand; kept to keep their memory.
  int rows_ = 0;
  std::vector<const v1::Column*> column_of_;  // a field
  std::vector<engine::TimeUs> times_;
  std::vector<uint8_t> bad_;     // a row
  std::vector<int32_t> kept_;    // rows that are good; empty: all
  std::vector<uint8_t> faults_;  // a symbol
  uint8_t all_faults_ = 0;       // of any symbol
};

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_COLUMN_DECODER_H_
