#include "server/engine/key_resolver.h"

#include <algorithm>
#include <bit>

#include "server/engine/key_codec.h"

namespace casement::engine {
namespace {

constexpr int64_t kNumberKeyBytes = 8;

bool IsText(FieldType type) {
  return type == FieldType::kString || type == FieldType::kBytes;
}

uint64_t BitsOf(const Column& column, FieldType type, int row) {
  if (type == FieldType::kDouble) {
    return std::bit_cast<uint64_t>(Canonical(column.doubles[row]));
  }
  return static_cast<uint64_t>(column.int64s[row]);
}

}  // namespace

KeyResolver::KeyResolver(const ViewSpec& view, const StreamSpec& stream) {
  for (const std::string& name : view.group_by) {
    const int index = stream.FindField(name);
    fields_.push_back({index, stream.fields[index].type});
  }
}

void KeyResolver::NumberValues(const EventBatch& batch, const Field& field,
                               std::vector<uint32_t>* numbers,
                               uint32_t* count) {
  const Column& column = batch.columns[field.index];
  const int rows = batch.row_count();
  numbers->assign(rows, 0);
  if (!column.present) {
    *count = 1;
    return;
  }
  if (IsText(field.type)) {
    // A symbol that is there twice gets two numbers, which is harmless: both
    // lead to one key.
    *count = batch.symbols.size() + 1;
    for (int row = 0; row < rows; ++row) {
      if (!column.IsNull(row)) (*numbers)[row] = column.symbols[row] + 1;
    }
    return;
  }
  values_.clear();
  for (int row = 0; row < rows; ++row) {
    if (column.IsNull(row)) continue;
    const uint32_t next = static_cast<uint32_t>(values_.size()) + 1;
    (*numbers)[row] = values_.try_emplace(BitsOf(column, field.type, row), next)
                          .first->second;
  }
  *count = static_cast<uint32_t>(values_.size()) + 1;
}

void KeyResolver::Combine(const std::vector<uint32_t>& numbers) {
  pairs_.clear();
  for (size_t row = 0; row < locals_.size(); ++row) {
    const uint64_t pair =
        (static_cast<uint64_t>(locals_[row]) << 32) | numbers[row];
    const uint32_t next = static_cast<uint32_t>(pairs_.size());
    locals_[row] = pairs_.try_emplace(pair, next).first->second;
  }
  local_count_ = static_cast<uint32_t>(pairs_.size());
}

void KeyResolver::Start(const EventBatch& batch) {
  locals_.clear();
  local_count_ = 1;
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (i == 0) {
      NumberValues(batch, fields_[0], &locals_, &local_count_);
      continue;
    }
    uint32_t count = 0;
    NumberValues(batch, fields_[i], &numbers_, &count);
    Combine(numbers_);
  }
}

void KeyResolver::AppendKey(const EventBatch& batch, int row,
                            std::string* key) const {
  for (const Field& field : fields_) {
    AppendKeyPart(batch, batch.columns[field.index], field.type, row, key);
  }
}

int64_t KeyResolver::KeyBytes(const EventBatch& batch, int row) const {
  int64_t bytes = 0;
  for (const Field& field : fields_) {
    const Column& column = batch.columns[field.index];
    if (column.IsNull(row)) continue;
    bytes += IsText(field.type) ? batch.symbols[column.symbols[row]].size()
                                : kNumberKeyBytes;
  }
  return bytes;
}

int64_t KeyResolver::MaxKeyBytes(const EventBatch& batch) const {
  // All symbols together, in each field, are a bound that costs nothing (two
  // fields can share a symbol); only a batch with long texts needs a closer
  // look.
  const int64_t fields = static_cast<int64_t>(fields_.size());
  const int64_t bound =
      fields *
      std::max(static_cast<int64_t>(batch.symbols.bytes()), kNumberKeyBytes);
  if (bound <= kMaxKeyBytes) return bound;
  int64_t longest = 0;
  for (uint32_t i = 0; i < batch.symbols.size(); ++i) {
    longest = std::max<int64_t>(longest, batch.symbols[i].size());
  }
  return fields * std::max(longest, kNumberKeyBytes);
}

}  // namespace casement::engine
