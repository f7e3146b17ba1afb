#include "server/rpc/column_decoder.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/rpc/batch_errors.h"
#include "server/rpc/field_errors.h"
#include "server/rpc/utf8.h"

namespace casement::rpc {
namespace {

// Faults of a symbol.
constexpr uint8_t kTooLarge = 1;
constexpr uint8_t kNotText = 2;  // matters in string fields only

size_t BitmapBytes(int rows) { return (static_cast<size_t>(rows) + 7) / 8; }

// An empty bitmap has no bit set.
bool BitAt(const std::string& bitmap, int row) {
  return !bitmap.empty() &&
         (static_cast<uint8_t>(bitmap[row / 8]) >> (row % 8) & 1) != 0;
}

absl::Status WrongLength(absl::string_view part, int64_t expected,
                         int64_t given) {
  return Malformed(part, absl::StrCat("must have ", expected, ", has ", given));
}

absl::Status CheckBitmap(absl::string_view part, const std::string& bitmap,
                         int rows) {
  if (bitmap.empty() || bitmap.size() == BitmapBytes(rows)) {
    return absl::OkStatus();
  }
  return WrongLength(part, static_cast<int64_t>(BitmapBytes(rows)),
                     static_cast<int64_t>(bitmap.size()));
}

}  // namespace

ColumnDecoder::ColumnDecoder(const engine::StreamSpec& stream)
    : stream_(stream) {
  for (size_t i = 0; i < stream.fields.size(); ++i) {
    field_index_.emplace(stream.fields[i].name, static_cast<int>(i));
  }
}

absl::Status ColumnDecoder::Decode(const v1::ColumnBatch& batch,
                                   engine::EventBatch* out) {
  if (absl::Status status = CheckForm(batch); !status.ok()) return status;
  out->sent_count = rows_;
  out->columns.resize(stream_.fields.size());
  bad_.assign(rows_, 0);
  kept_.clear();
  RejectTimes(batch, out);
  CheckSymbols(batch);
  for (size_t i = 0; i < column_of_.size(); ++i) {
    const int field = static_cast<int>(i);
    const v1::Column* column = column_of_[i];
    if (column == nullptr) continue;
    if (column->has_symbols()) RejectSymbols(field, *column, out);
    if (column->has_bytes_values()) RejectBytes(field, *column, out);
  }
  for (size_t i = 0; i < stream_.fields.size(); ++i) {
    if (stream_.fields[i].required) RejectMissing(static_cast<int>(i), out);
  }
  if (!out->rejects.empty()) {
    std::sort(out->rejects.begin(), out->rejects.end(),
              [](const auto& a, const auto& b) { return a.index < b.index; });
    for (int row = 0; row < rows_; ++row) {
      if (bad_[row] == 0) kept_.push_back(row);
    }
    out->sent_index = kept_;
  }
  CopyTimes(out);
  // The slot of a null is an index too, so there is always one symbol.
  if (batch.symbols().empty()) out->symbols.Add("");
  for (int i = 0; i < batch.symbols_size(); ++i) {
    const bool usable = (faults_[i] & kTooLarge) == 0;
    out->symbols.Add(usable ? absl::string_view(batch.symbols(i))
                            : absl::string_view());
  }
  for (size_t i = 0; i < column_of_.size(); ++i) {
    if (column_of_[i] == nullptr || out->times.empty()) continue;
    CopyColumn(*column_of_[i], stream_.fields[i].type, out, &out->columns[i]);
  }
  return absl::OkStatus();
}

absl::Status ColumnDecoder::CheckForm(const v1::ColumnBatch& batch) {
  rows_ = batch.row_count();
  if (rows_ < 0) {
    return Malformed("columns.row_count", "must not be negative");
  }
  if (rows_ > engine::kMaxBatchEvents) {
    return TooLarge("events", engine::kMaxBatchEvents, rows_);
  }
  if (batch.event_time_deltas_us_size() != rows_) {
    return WrongLength("columns.event_time_deltas_us", rows_,
                       batch.event_time_deltas_us_size());
  }
  if (absl::Status status =
          CheckBitmap("columns.time_nulls", batch.time_nulls(), rows_);
      !status.ok()) {
    return status;
  }
  if (!batch.symbols().empty() && !batch.symbols(0).empty()) {
    return Malformed("columns.symbols[0]", "must be empty");
  }
  if (batch.has_event_ids()) {
    if (batch.event_ids().indices_size() != rows_) {
      return WrongLength("columns.event_ids", rows_,
                         batch.event_ids().indices_size());
    }
    if (absl::Status status = CheckIndices(
            "columns.event_ids", batch.event_ids(), "", batch.symbols_size());
        !status.ok()) {
      return status;
    }
  }
  if (absl::Status status = MatchColumns(batch); !status.ok()) return status;
  return SumTimes(batch);
}

absl::Status ColumnDecoder::MatchColumns(const v1::ColumnBatch& batch) {
  column_of_.assign(stream_.fields.size(), nullptr);
  for (int i = 0; i < batch.columns_size(); ++i) {
    const v1::Column& column = batch.columns(i);
    const std::string path = At("columns.columns", i);
    const auto found = field_index_.find(absl::string_view(column.field()));
    if (found == field_index_.end()) {
      return Malformed(absl::StrCat(path, ".field"),
                       absl::StrCat("is \"", ToUtf8(column.field(), 64),
                                    "\", which the stream hasn't"));
    }
    if (column_of_[found->second] != nullptr) {
      return Malformed(absl::StrCat(path, ".field"),
                       absl::StrCat("is \"", column.field(),
                                    "\", which has a column before"));
    }
    column_of_[found->second] = &column;
    if (absl::Status status = CheckColumn(
            path, column, stream_.fields[found->second].type, batch);
        !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status ColumnDecoder::CheckColumn(const std::string& path,
                                        const v1::Column& column,
                                        engine::FieldType type,
                                        const v1::ColumnBatch& batch) const {
  int64_t given = 0;
  int64_t expected = rows_;
  bool fits = false;
  switch (column.data_case()) {
    case v1::Column::kInt64S:
      fits = type == engine::FieldType::kInt64;
      given = column.int64s().values_size();
      break;
    case v1::Column::kDoubles:
      fits = type == engine::FieldType::kDouble;
      given = column.doubles().values_size();
      break;
    case v1::Column::kBools:
      fits = type == engine::FieldType::kBool;
      given = static_cast<int64_t>(column.bools().size());
      expected = static_cast<int64_t>(BitmapBytes(rows_));
      break;
    case v1::Column::kSymbols:
      fits = type == engine::FieldType::kString ||
             type == engine::FieldType::kBytes;
      given = column.symbols().indices_size();
      break;
    case v1::Column::kBytesValues:
      fits = type == engine::FieldType::kBytes;
      given = column.bytes_values().values_size();
      break;
    case v1::Column::DATA_NOT_SET:
      return Malformed(path, "has no data");
  }
  if (!fits) return Malformed(path, "is of another type than its field");
  if (given != expected) return WrongLength(path, expected, given);
  if (absl::Status status =
          CheckBitmap(absl::StrCat(path, ".nulls"), column.nulls(), rows_);
      !status.ok()) {
    return status;
  }
  if (!column.has_symbols()) return absl::OkStatus();
  return CheckIndices(absl::StrCat(path, ".symbols"), column.symbols(),
                      column.nulls(), batch.symbols_size());
}

absl::Status ColumnDecoder::CheckIndices(const std::string& path,
                                         const v1::SymbolArray& symbols,
                                         const std::string& nulls,
                                         int dictionary) const {
  uint32_t greatest = 0;
  for (uint32_t index : symbols.indices()) {
    greatest = std::max(greatest, index);
  }
  const auto size = static_cast<uint32_t>(dictionary);
  if (rows_ == 0 || greatest < size) return absl::OkStatus();
  // The slot of a null may hold anything.
  for (int row = 0; row < rows_; ++row) {
    if (symbols.indices(row) >= size && !BitAt(nulls, row)) {
      return Malformed(At(absl::StrCat(path, ".indices"), row),
                       absl::StrCat("is ", symbols.indices(row), ", with ",
                                    dictionary, " symbols"));
    }
  }
  return absl::OkStatus();
}

absl::Status ColumnDecoder::SumTimes(const v1::ColumnBatch& batch) {
  times_.resize(rows_);
  int64_t time = batch.base_time_us();
  for (int row = 0; row < rows_; ++row) {
    if (__builtin_add_overflow(time, batch.event_time_deltas_us(row), &time)) {
      return Malformed(At("columns.event_time_deltas_us", row),
                       "takes the time out of 64 bits");
    }
    times_[row] = time;
  }
  return absl::OkStatus();
}

void ColumnDecoder::Reject(int row, engine::RejectReason reason,
                           absl::string_view field, engine::EventBatch* out) {
  if (bad_[row] != 0) return;  // its first fault is told
  bad_[row] = 1;
  out->rejects.push_back(MakeReject(row, reason, field));
}

void ColumnDecoder::RejectTimes(const v1::ColumnBatch& batch,
                                engine::EventBatch* out) {
  for (int row = 0; row < rows_; ++row) {
    if (BitAt(batch.time_nulls(), row)) {
      Reject(row, engine::RejectReason::kMissingTime, "", out);
    } else if (times_[row] < engine::kMinEventTime ||
               times_[row] > engine::kMaxEventTime) {
      Reject(row, engine::RejectReason::kTimeOutOfRange, "", out);
    }
  }
}

void ColumnDecoder::CheckSymbols(const v1::ColumnBatch& batch) {
  faults_.assign(batch.symbols_size(), 0);
  all_faults_ = 0;
  for (int i = 0; i < batch.symbols_size(); ++i) {
    const std::string& symbol = batch.symbols(i);
    if (StringFault(symbol, /*is_text=*/false).has_value()) {
      faults_[i] = kTooLarge;
    } else if (!IsUtf8(symbol)) {
      faults_[i] = kNotText;
    }
    all_faults_ |= faults_[i];
  }
}

void ColumnDecoder::RejectMissing(int field, engine::EventBatch* out) {
  const v1::Column* column = column_of_[field];
  if (column != nullptr && column->nulls().empty()) return;
  for (int row = 0; row < rows_; ++row) {
    if (column == nullptr || BitAt(column->nulls(), row)) {
      Reject(row, engine::RejectReason::kMissingField,
             stream_.fields[field].name, out);
    }
  }
}

void ColumnDecoder::RejectSymbols(int field, const v1::Column& column,
                                  engine::EventBatch* out) {
  const engine::FieldSpec& spec = stream_.fields[field];
  const uint8_t counts = spec.type == engine::FieldType::kString
                             ? kTooLarge | kNotText
                             : kTooLarge;
  if ((all_faults_ & counts) == 0) return;
  for (int row = 0; row < rows_; ++row) {
    if (BitAt(column.nulls(), row)) continue;
    const uint8_t fault = faults_[column.symbols().indices(row)] & counts;
    if (fault == 0) continue;
    Reject(row,
           (fault & kTooLarge) != 0 ? engine::RejectReason::kValueTooLarge
                                    : engine::RejectReason::kNotUtf8,
           spec.name, out);
  }
}

void ColumnDecoder::RejectBytes(int field, const v1::Column& column,
                                engine::EventBatch* out) {
  for (int row = 0; row < rows_; ++row) {
    if (BitAt(column.nulls(), row)) continue;
    if (StringFault(column.bytes_values().values(row), /*is_text=*/false)) {
      Reject(row, engine::RejectReason::kValueTooLarge,
             stream_.fields[field].name, out);
    }
  }
}

template <typename From, typename To>
void ColumnDecoder::CopyValues(const From& from, std::vector<To>* to) const {
  if (kept_.empty()) {
    to->assign(from.begin(), from.end());
    return;
  }
  to->reserve(kept_.size());
  for (int32_t row : kept_) to->push_back(from[row]);
}

void ColumnDecoder::CopyTimes(engine::EventBatch* out) const {
  // With rejects and nothing kept there are no rows at all.
  if (!out->rejects.empty() && kept_.empty()) return;
  CopyValues(times_, &out->times);
}

void ColumnDecoder::CopyNulls(const std::string& bitmap,
                              engine::Column* to) const {
  if (bitmap.empty()) return;
  const int count = kept_.empty() ? rows_ : static_cast<int>(kept_.size());
  to->nulls.resize(count);
  int nulls = 0;
  for (int i = 0; i < count; ++i) {
    to->nulls[i] = BitAt(bitmap, kept_.empty() ? i : kept_[i]) ? 1 : 0;
    nulls += to->nulls[i];
  }
  if (nulls == 0) to->nulls.clear();
  if (nulls == count) *to = engine::Column();
}

void ColumnDecoder::CopyColumn(const v1::Column& column, engine::FieldType type,
                               engine::EventBatch* out,
                               engine::Column* to) const {
  to->present = true;
  CopyNulls(column.nulls(), to);
  if (!to->present) return;
  switch (type) {
    case engine::FieldType::kInt64:
      CopyValues(column.int64s().values(), &to->int64s);
      return;
    case engine::FieldType::kDouble:
      CopyValues(column.doubles().values(), &to->doubles);
      return;
    case engine::FieldType::kBool:
      to->int64s.resize(out->times.size());
      for (size_t i = 0; i < to->int64s.size(); ++i) {
        const int row = kept_.empty() ? static_cast<int>(i) : kept_[i];
        to->int64s[i] = BitAt(column.bools(), row) ? 1 : 0;
      }
      return;
    case engine::FieldType::kString:
    case engine::FieldType::kBytes:
      break;
  }
  if (column.has_symbols()) {
    CopyValues(column.symbols().indices(), &to->symbols);
    for (size_t i = 0; i < to->nulls.size(); ++i) {
      if (to->nulls[i] != 0) to->symbols[i] = 0;
    }
    return;
  }
  to->symbols.resize(out->times.size(), 0);
  for (size_t i = 0; i < to->symbols.size(); ++i) {
    const int row = kept_.empty() ? static_cast<int>(i) : kept_[i];
    if (to->IsNull(static_cast<int>(i))) continue;
    to->symbols[i] = out->symbols.Add(column.bytes_values().values(row));
  }
}

}  // namespace casement::rpc
