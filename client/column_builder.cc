#include "client/column_builder.h"

#include <cassert>

#include "absl/strings/str_cat.h"

namespace casement::client {
namespace {

// Bounds of what things take on the wire: a varint of 64 bits, and tag and
// length around a string.
constexpr int64_t kVarintBytes = 10;
constexpr int64_t kStringOverhead = 6;
constexpr int64_t kBatchOverhead = 64;

v1::FieldType TypeOf(const Value& value) {
  constexpr v1::FieldType kTypes[] = {
      v1::FIELD_TYPE_UNSPECIFIED, v1::FIELD_TYPE_INT64,  v1::FIELD_TYPE_DOUBLE,
      v1::FIELD_TYPE_BOOL,        v1::FIELD_TYPE_STRING, v1::FIELD_TYPE_BYTES};
  return kTypes[value.index()];
}

bool IsNull(const Value& value) {
  return std::holds_alternative<std::monostate>(value);
}

// One bit a row, the lowest bit of the first byte first.
std::string PackBits(const std::vector<bool>& bits) {
  std::string bytes((bits.size() + 7) / 8, '\0');
  for (size_t i = 0; i < bits.size(); ++i) {
    if (bits[i])
      bytes[i / 8] = static_cast<char>(bytes[i / 8] | (1 << (i % 8)));
  }
  return bytes;
}

}  // namespace

ColumnBuilder::ColumnBuilder(const Fields& fields) {
  // The time, its null bit, an event id, and for each field a null bit and a
  // slot, which is there also where the value is null.
  row_overhead_ = kVarintBytes + 1 + 5;
  for (const v1::FieldSpec& spec : fields) {
    by_name_[spec.name()] = static_cast<int>(fields_.size());
    fields_.emplace_back().spec = spec;
    row_overhead_ += 1 + kVarintBytes;
  }
  Clear();
}

std::optional<int> ColumnBuilder::Find(absl::string_view field) const {
  const auto it = by_name_.find(field);
  if (it == by_name_.end()) return std::nullopt;
  return it->second;
}

absl::Status ColumnBuilder::Check(const Event& event) const {
  for (const auto& [name, value] : event.fields()) {
    const std::optional<int> number = Find(name);
    if (!number) {
      return absl::InvalidArgumentError(
          absl::StrCat("the stream has no field \"", name, "\""));
    }
    if (!IsNull(value) && TypeOf(value) != fields_[*number].spec.type()) {
      return absl::InvalidArgumentError(
          absl::StrCat("a value of field \"", name, "\" has another type"));
    }
  }
  int64_t delta = 0;
  if (event.time_us() && last_time_us_ &&
      __builtin_sub_overflow(*event.time_us(), *last_time_us_, &delta)) {
    return absl::InvalidArgumentError("times too far apart for one batch");
  }
  return absl::OkStatus();
}

absl::Status ColumnBuilder::AddRow(const Event& event) {
  if (absl::Status status = Check(event); !status.ok()) return status;
  const bool begun = BeginRow(event.time_us());
  assert(begun);
  static_cast<void>(begun);
  if (!event.id().empty()) SetEventId(event.id());
  for (const auto& [name, value] : event.fields()) {
    const int field = by_name_.find(name)->second;
    switch (value.index()) {
      case 1:
        SetInt64(field, std::get<1>(value));
        break;
      case 2:
        SetDouble(field, std::get<2>(value));
        break;
      case 3:
        SetBool(field, std::get<3>(value));
        break;
      case 4:
        SetString(field, std::get<4>(value));
        break;
      case 5:
        SetBytes(field, std::get<5>(value).data);
        break;
      default:
        break;
    }
  }
  return absl::OkStatus();
}

bool ColumnBuilder::BeginRow(std::optional<int64_t> time_us) {
  int64_t delta = 0;
  if (time_us) {
    if (!last_time_us_) {
      // The first time that there is becomes the base; rows without a time
      // before it have a delta of zero.
      batch_.set_base_time_us(*time_us);
    } else if (__builtin_sub_overflow(*time_us, *last_time_us_, &delta)) {
      return false;
    }
    last_time_us_ = time_us;
  }
  batch_.add_event_time_deltas_us(delta);
  time_nulls_.push_back(!time_us);
  any_time_null_ |= !time_us;
  ++rows_;
  bytes_ += row_overhead_;
  return true;
}

ColumnBuilder::Field& ColumnBuilder::Slot(int number, v1::FieldType type) {
  Field& field = fields_[number];
  assert(field.spec.type() == type);
  static_cast<void>(type);
  assert(field.filled < rows_);
  PadWithNulls(field, rows_ - 1);
  field.nulls.push_back(false);
  field.filled = rows_;
  return field;
}

void ColumnBuilder::SetInt64(int field, int64_t value) {
  Slot(field, v1::FIELD_TYPE_INT64).column.mutable_int64s()->add_values(value);
}

void ColumnBuilder::SetDouble(int field, double value) {
  Slot(field, v1::FIELD_TYPE_DOUBLE)
      .column.mutable_doubles()
      ->add_values(value);
}

void ColumnBuilder::SetBool(int field, bool value) {
  Slot(field, v1::FIELD_TYPE_BOOL).bools.push_back(value);
}

void ColumnBuilder::SetString(int field, absl::string_view value) {
  Slot(field, v1::FIELD_TYPE_STRING)
      .column.mutable_symbols()
      ->add_indices(Symbol(value));
}

void ColumnBuilder::SetBytes(int field, absl::string_view value) {
  Slot(field, v1::FIELD_TYPE_BYTES)
      .column.mutable_bytes_values()
      ->add_values(value.data(), value.size());
  bytes_ += static_cast<int64_t>(value.size()) + kStringOverhead;
}

void ColumnBuilder::SetEventId(absl::string_view id) {
  auto& indices = *batch_.mutable_event_ids()->mutable_indices();
  indices.Resize(rows_ - 1, 0);
  indices.Add(Symbol(id));
}

uint32_t ColumnBuilder::Symbol(absl::string_view text) {
  const auto it = symbol_numbers_.find(text);
  if (it != symbol_numbers_.end()) return it->second;
  const uint32_t number = batch_.symbols_size();
  symbol_numbers_.emplace(std::string(text), number);
  batch_.add_symbols(text.data(), text.size());
  bytes_ += static_cast<int64_t>(text.size()) + kStringOverhead;
  return number;
}

int64_t ColumnBuilder::MaxBytes(const Event& event) const {
  int64_t bytes = row_overhead_;
  if (!event.id().empty()) bytes += event.id().size() + kStringOverhead;
  for (const auto& [name, value] : event.fields()) {
    if (const auto* text = std::get_if<std::string>(&value)) {
      if (!symbol_numbers_.contains(*text)) {
        bytes += text->size() + kStringOverhead;
      }
    } else if (const auto* data = std::get_if<Bytes>(&value)) {
      bytes += data->data.size() + kStringOverhead;
    }
  }
  return bytes;
}

void ColumnBuilder::PadWithNulls(Field& field, int rows) {
  if (field.filled >= rows) return;
  field.any_null = true;
  for (; field.filled < rows; ++field.filled) {
    field.nulls.push_back(true);
    switch (field.spec.type()) {
      case v1::FIELD_TYPE_INT64:
        field.column.mutable_int64s()->add_values(0);
        break;
      case v1::FIELD_TYPE_DOUBLE:
        field.column.mutable_doubles()->add_values(0);
        break;
      case v1::FIELD_TYPE_BOOL:
        field.bools.push_back(false);
        break;
      case v1::FIELD_TYPE_STRING:
        field.column.mutable_symbols()->add_indices(0);
        break;
      case v1::FIELD_TYPE_BYTES:
        field.column.mutable_bytes_values()->add_values();
        break;
      default:
        break;
    }
  }
}

void ColumnBuilder::FinishField(Field& field) {
  // A field that no row has needs no column.
  if (field.filled == 0) return;
  PadWithNulls(field, rows_);
  field.column.set_field(field.spec.name());
  if (field.spec.type() == v1::FIELD_TYPE_BOOL) {
    field.column.set_bools(PackBits(field.bools));
  }
  if (field.any_null) field.column.set_nulls(PackBits(field.nulls));
  batch_.add_columns()->Swap(&field.column);
}

v1::ColumnBatch ColumnBuilder::Take() {
  batch_.set_row_count(rows_);
  if (any_time_null_) batch_.set_time_nulls(PackBits(time_nulls_));
  if (batch_.has_event_ids()) {
    batch_.mutable_event_ids()->mutable_indices()->Resize(rows_, 0);
  }
  for (Field& field : fields_) FinishField(field);
  v1::ColumnBatch batch = std::move(batch_);
  Clear();
  return batch;
}

void ColumnBuilder::Clear() {
  batch_ = v1::ColumnBatch();
  batch_.add_symbols("");
  symbol_numbers_.clear();
  symbol_numbers_.emplace("", 0);
  for (Field& field : fields_) {
    field.column.Clear();
    field.filled = 0;
    field.any_null = false;
    field.nulls.clear();
    field.bools.clear();
  }
  time_nulls_.clear();
  any_time_null_ = false;
  last_time_us_.reset();
  rows_ = 0;
  bytes_ = kBatchOverhead;
  for (const Field& field : fields_) {
    bytes_ += static_cast<int64_t>(field.spec.name().size()) + kStringOverhead +
              kBatchOverhead;
  }
}

}  // namespace casement::client
