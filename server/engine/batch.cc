#include "server/engine/batch.h"

#include <bit>
#include <cmath>
#include <limits>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace casement::engine {
namespace {

// Marks of values in a digest, so that a null, an absent column and a zero are
// told apart.
constexpr uint64_t kNullMark = 0x9e3779b97f4a7c15;

class DigestBuilder {
 public:
  DigestBuilder() { XXH3_64bits_reset(&state_); }
  void Number(uint64_t value) {
    buffer_[size_++] = value;
    if (size_ == kBuffered) Flush();
  }
  void Text(absl::string_view text) {
    Number(XXH3_64bits(text.data(), text.size()));
  }
  uint64_t Finish() {
    Flush();
    return XXH3_64bits_digest(&state_);
  }

 private:
  static constexpr int kBuffered = 512;
  void Flush() {
    XXH3_64bits_update(&state_, buffer_, size_ * sizeof(uint64_t));
    size_ = 0;
  }
  XXH3_state_t state_;
  uint64_t buffer_[kBuffered];
  int size_ = 0;
};

void DigestColumn(const EventBatch& batch, const Column& column,
                  const std::vector<uint64_t>& symbol_hashes,
                  DigestBuilder* digest) {
  const int rows = batch.row_count();
  for (int row = 0; row < rows; ++row) {
    if (column.IsNull(row)) {
      digest->Number(kNullMark);
      digest->Number(0);
    } else if (!column.int64s.empty()) {
      digest->Number(static_cast<uint64_t>(column.int64s[row]));
    } else if (!column.doubles.empty()) {
      digest->Number(std::bit_cast<uint64_t>(column.doubles[row]));
    } else {
      digest->Number(symbol_hashes[column.symbols[row]]);
    }
  }
}

}  // namespace

uint32_t SymbolTable::Add(absl::string_view symbol) {
  bytes_.append(symbol.data(), symbol.size());
  ends_.push_back(static_cast<uint32_t>(bytes_.size()));
  return size() - 1;
}

size_t EventBatch::memory_bytes() const {
  size_t bytes = sizeof(EventBatch) + times.capacity() * sizeof(TimeUs) +
                 symbols.bytes() + symbols.size() * sizeof(uint32_t) +
                 sent_index.capacity() * sizeof(int32_t) +
                 rejects.capacity() * sizeof(RejectedEvent);
  for (const Column& column : columns) {
    bytes += sizeof(Column) + column.int64s.capacity() * sizeof(int64_t) +
             column.doubles.capacity() * sizeof(double) +
             column.symbols.capacity() * sizeof(uint32_t) +
             column.nulls.capacity();
  }
  return bytes;
}

uint64_t DigestOf(const EventBatch& batch) {
  std::vector<uint64_t> symbol_hashes(batch.symbols.size());
  for (uint32_t i = 0; i < batch.symbols.size(); ++i) {
    const absl::string_view symbol = batch.symbols[i];
    symbol_hashes[i] = XXH3_64bits(symbol.data(), symbol.size());
  }
  DigestBuilder digest;
  digest.Number(batch.sent_count);
  digest.Number(batch.row_count());
  for (const TimeUs time : batch.times) {
    digest.Number(static_cast<uint64_t>(time));
  }
  for (const Column& column : batch.columns) {
    DigestColumn(batch, column, symbol_hashes, &digest);
  }
  for (const int32_t index : batch.sent_index) digest.Number(index);
  for (const RejectedEvent& reject : batch.rejects) {
    digest.Number(reject.index);
    digest.Number(static_cast<uint64_t>(reject.reason));
    digest.Text(reject.field);
  }
  return digest.Finish();
}

}  // namespace casement::engine
