// The accumulators of a view, fused: all aggregates of one window and key are
// one row of 64-bit words, whose layout an AggregateSet knows. A row begins
// with the count of its events and the times of the first and the last of
// them. Updates go column by column over many events; rows merge in any order
// with one outcome.
//
// What does not fit in words (distinct values, least and greatest texts) hangs
// on the row by a pointer: a row must be destroyed by the set that made it.
#ifndef CASEMENT_SERVER_ENGINE_AGGREGATE_H_
#define CASEMENT_SERVER_ENGINE_AGGREGATE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "server/engine/batch.h"
#include "server/engine/codec.h"
#include "server/engine/result.h"
#include "server/engine/spec.h"

namespace casement::engine {

using Word = uint64_t;

// The words that every row begins with.
struct RowHead {
  int64_t event_count;
  TimeUs first_event_time;
  TimeUs last_event_time;
};
inline RowHead& HeadOf(Word* row) { return *reinterpret_cast<RowHead*>(row); }
inline const RowHead& HeadOf(const Word* row) {
  return *reinterpret_cast<const RowHead*>(row);
}

class AggregateSet {
 public:
  // Both specs must be valid.
  AggregateSet(const ViewSpec& view, const StreamSpec& stream);

  int row_words() const { return row_words_; }

  void Init(Word* row) const;
  void Destroy(Word* row);

  // Adds event events[i] of the batch to rows[i]. Rows may repeat.
  void Update(const EventBatch& batch, absl::Span<Word* const> rows,
              absl::Span<const int32_t> events);
  void Merge(Word* into, const Word* from);

  // The values in the order of the spec: a count, then each.
  void EncodeValues(const Word* row, Encoder* out) const;
  // The mergeable state, the same bytes for the same content. Decode into a
  // row that was only initialised; false for bytes that Encode did not make.
  void EncodeState(const Word* row, Encoder* out) const;
  bool DecodeState(Decoder* in, Word* row);

  // What hangs on rows, about.
  size_t external_bytes() const { return external_bytes_; }

 private:
  enum class Op : uint8_t {
    kCountEvents,
    kCountField,
    kSumInt,
    kSumDouble,
    kExtremeInt,
    kExtremeDouble,
    kExtremeText,
    kDistinctNumber,
    kDistinctText,
  };
  // One aggregate's place in a row.
  struct Slot {
    Op op;
    Function function;
    FieldType type = FieldType::kInt64;
    int field = -1;
    int word = 0;
  };

  static Op OpFor(Function function, FieldType type);
  static int WordsFor(Op op);
  void UpdateSlot(const Slot& slot, const EventBatch& batch,
                  absl::Span<Word* const> rows,
                  absl::Span<const int32_t> events);
  void MergeSlot(const Slot& slot, Word* into, const Word* from);
  AggregateValue ValueOf(const Slot& slot, const Word* row) const;
  void EncodeSlot(const Slot& slot, const Word* row, Encoder* out) const;
  bool DecodeSlot(const Slot& slot, Decoder* in, Word* row);
  void AddNumber(Word* word, uint64_t number);
  void AddText(Word* word, absl::string_view text);
  void Extreme(const Slot& slot, Word* word, absl::string_view text);

  std::vector<Slot> slots_;
  int row_words_ = 0;
  bool has_external_ = false;
  size_t external_bytes_ = 0;
};

}  // namespace casement::engine

#endif  // CASEMENT_SERVER_ENGINE_AGGREGATE_H_
