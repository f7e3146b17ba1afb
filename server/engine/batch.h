// A batch in memory: one array for the times and one for each field of the
// stream, whatever wire form it came in. The RPC layer makes it and sets bad
// events apart, so that all rows here are well formed. Nothing is allocated
// for an event; a batch object can be reused with Clear().
#ifndef CASEMENT_SERVER_ENGINE_BATCH_H_
#define CASEMENT_SERVER_ENGINE_BATCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/engine/types.h"

namespace casement::engine {

// The distinct strings of a batch, as one block of bytes.
class SymbolTable {
 public:
  uint32_t Add(absl::string_view symbol);  // no search: always a new one
  absl::string_view operator[](uint32_t index) const {
    const size_t begin = index == 0 ? 0 : ends_[index - 1];
    return absl::string_view(bytes_).substr(begin, ends_[index] - begin);
  }
  uint32_t size() const { return static_cast<uint32_t>(ends_.size()); }
  size_t bytes() const { return bytes_.size(); }
  void Clear() {
    bytes_.clear();
    ends_.clear();
  }

 private:
  std::string bytes_;
  std::vector<uint32_t> ends_;
};

// The values of one field. Which array is used follows from the field's type;
// the slot of a null is there and holds anything.
struct Column {
  bool present = false;           // false: null in every row, no arrays
  std::vector<int64_t> int64s;    // int64, bool (0 or 1)
  std::vector<double> doubles;    // double
  std::vector<uint32_t> symbols;  // string, bytes: indices into `symbols`
  std::vector<uint8_t> nulls;     // one a row, 1 = null; empty: no nulls

  bool IsNull(int row) const {
    return !present || (!nulls.empty() && nulls[row] != 0);
  }
};

// An event that is left out, and why.
struct RejectedEvent {
  int32_t index = 0;  // in the batch as sent
  RejectReason reason = RejectReason::kMissingTime;
  std::string field;    // may be empty
  std::string message;  // for people
};

struct EventBatch {
  int32_t sent_count = 0;       // events as sent, bad ones too
  std::vector<TimeUs> times;    // of the well-formed events
  std::vector<Column> columns;  // one a field of the stream, in its order
  SymbolTable symbols;
  // Position of each row in the batch as sent; empty: none is missing.
  std::vector<int32_t> sent_index;
  std::vector<RejectedEvent> rejects;  // by index

  int32_t row_count() const { return static_cast<int32_t>(times.size()); }
  int32_t SentIndex(int32_t row) const {
    return sent_index.empty() ? row : sent_index[row];
  }
  size_t memory_bytes() const;
};

// A stable digest of what was sent (values, times, rejects), the same for rows
// and columns and however the dictionary is laid out.
uint64_t DigestOf(const EventBatch& batch);

}  // namespace casement::engine

#endif  // CASEMENT_SERVER_ENGINE_BATCH_H_
