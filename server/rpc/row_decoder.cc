#include "server/rpc/row_decoder.h"

#include <algorithm>
#include <optional>
#include <string>

#include "server/rpc/batch_errors.h"
#include "server/rpc/filter_conversion.h"
#include "server/rpc/limits.h"
#include "server/rpc/time_conversion.h"

namespace casement::rpc {
namespace {

// Fields that the stream hasn't come after those that it has.
constexpr int kUnknownField = engine::kMaxFields;

bool IsString(engine::FieldType type) {
  return type == engine::FieldType::kString ||
         type == engine::FieldType::kBytes;
}

absl::string_view StringOf(const v1::Value& value) {
  return value.kind_case() == v1::Value::kStringValue ? value.string_value()
                                                      : value.bytes_value();
}

// At most what an event, and a field of it, take on the wire beside their
// texts: tags, lengths and numbers.
constexpr size_t kEventOverhead = 48;
constexpr size_t kFieldOverhead = 32;

// All rows are null until a value is stored.
void MakePresent(engine::FieldType type, int rows, engine::Column* column) {
  column->present = true;
  column->nulls.assign(rows, 1);
  switch (type) {
    case engine::FieldType::kInt64:
    case engine::FieldType::kBool:
      column->int64s.assign(rows, 0);
      break;
    case engine::FieldType::kDouble:
      column->doubles.assign(rows, 0);
      break;
    case engine::FieldType::kString:
    case engine::FieldType::kBytes:
      column->symbols.assign(rows, 0);
      break;
  }
}

// Cuts the column to the rows that there are.
void Trim(int rows, int values, engine::Column* column) {
  if (!column->present) return;
  if (!column->int64s.empty()) column->int64s.resize(rows);
  if (!column->doubles.empty()) column->doubles.resize(rows);
  if (!column->symbols.empty()) column->symbols.resize(rows);
  column->nulls.resize(rows);
  if (values == rows) column->nulls.clear();
}

}  // namespace

RowDecoder::RowDecoder(const engine::StreamSpec& stream)
    : stream_(stream), seen_(stream.fields.size(), 0) {
  for (size_t i = 0; i < stream.fields.size(); ++i) {
    field_index_.emplace(stream.fields[i].name, static_cast<int>(i));
    if (stream.fields[i].required) required_.push_back(static_cast<int>(i));
  }
}

absl::Status RowDecoder::Decode(const v1::RowBatch& rows,
                                engine::EventBatch* out) {
  event_count_ = rows.events_size();
  if (event_count_ > engine::kMaxBatchEvents) {
    return TooLarge("events", engine::kMaxBatchEvents, event_count_);
  }
  out->sent_count = event_count_;
  out->columns.resize(stream_.fields.size());
  out->times.reserve(event_count_);
  // The slot of a null is an index too.
  out->symbols.Add("");
  value_counts_.assign(stream_.fields.size(), 0);
  symbol_index_.clear();
  size_bound_ = 0;
  for (int i = 0; i < event_count_; ++i) {
    engine::TimeUs time = 0;
    Fault fault;
    if (!Check(rows.events(i), &time, &fault)) {
      const absl::string_view name =
          fault.field < 0 ? absl::string_view()
          : fault.field == kUnknownField
              ? fault.unknown
              : absl::string_view(stream_.fields[fault.field].name);
      if (out->rejects.empty()) {
        for (int32_t row = 0; row < i; ++row) out->sent_index.push_back(row);
      }
      out->rejects.push_back(MakeReject(i, fault.reason, name));
      continue;
    }
    const int row = out->row_count();
    out->times.push_back(time);
    if (!out->rejects.empty()) out->sent_index.push_back(i);
    for (const FieldValue& value : values_) Store(row, value, out);
  }
  // To count exactly costs a good part of the decoding.
  if (size_bound_ > kMaxRowBatchBytes || !out->rejects.empty()) {
    const size_t bytes = rows.ByteSizeLong();
    if (bytes > kMaxRowBatchBytes) {
      return TooLarge("bytes", kMaxRowBatchBytes, static_cast<int64_t>(bytes));
    }
  }
  for (size_t i = 0; i < out->columns.size(); ++i) {
    Trim(out->row_count(), value_counts_[i], &out->columns[i]);
  }
  return absl::OkStatus();
}

bool RowDecoder::Check(const v1::Event& event, engine::TimeUs* time,
                       Fault* fault) {
  fault->field = -1;
  if (!event.has_event_time()) {
    fault->reason = engine::RejectReason::kMissingTime;
    return false;
  }
  switch (ToTimeUs(event.event_time(), time)) {
    case TimeFault::kNone:
      break;
    case TimeFault::kInvalid:
      fault->reason = engine::RejectReason::kInvalidTime;
      return false;
    case TimeFault::kOutOfRange:
      fault->reason = engine::RejectReason::kTimeOutOfRange;
      return false;
  }
  // A map has no order of its own: the least field stands.
  constexpr int kNoFault = kUnknownField + 1;
  fault->field = kNoFault;
  ++event_number_;
  values_.clear();
  size_bound_ += kEventOverhead + event.event_id().size();
  for (const auto& [name, value] : event.fields()) {
    size_bound_ += kFieldOverhead + name.size();
    const auto found = field_index_.find(absl::string_view(name));
    if (found != field_index_.end()) {
      CheckValue(found->second, value, fault);
    } else if (fault->field >= kUnknownField &&
               (fault->field > kUnknownField ||
                absl::string_view(name) < fault->unknown)) {
      *fault = {engine::RejectReason::kUnknownField, kUnknownField, name};
    }
  }
  if (fault->field < kUnknownField) return false;
  for (const int field : required_) {
    if (seen_[field] == event_number_) continue;
    *fault = {engine::RejectReason::kMissingField, field, {}};
    return false;
  }
  return fault->field == kNoFault;
}

void RowDecoder::CheckValue(int field, const v1::Value& value, Fault* fault) {
  if (value.kind_case() == v1::Value::KIND_NOT_SET) return;
  seen_[field] = event_number_;
  const engine::FieldType type = stream_.fields[field].type;
  std::optional<engine::RejectReason> reason;
  if (!HasType(value, type)) {
    reason = engine::RejectReason::kWrongType;
  } else if (IsString(type)) {
    const absl::string_view text = StringOf(value);
    size_bound_ += text.size();
    reason = StringFault(text, type == engine::FieldType::kString);
  }
  if (!reason.has_value()) {
    values_.push_back({field, &value});
  } else if (field < fault->field) {
    *fault = {*reason, field, {}};
  }
}

void RowDecoder::Store(int row, const FieldValue& value,
                       engine::EventBatch* out) {
  const engine::FieldType type = stream_.fields[value.field].type;
  engine::Column& column = out->columns[value.field];
  if (!column.present) MakePresent(type, event_count_, &column);
  ++value_counts_[value.field];
  column.nulls[row] = 0;
  switch (type) {
    case engine::FieldType::kInt64:
      column.int64s[row] = value.value->int64_value();
      break;
    case engine::FieldType::kBool:
      column.int64s[row] = value.value->bool_value() ? 1 : 0;
      break;
    case engine::FieldType::kDouble:
      column.doubles[row] = value.value->double_value();
      break;
    case engine::FieldType::kString:
    case engine::FieldType::kBytes:
      column.symbols[row] = Intern(StringOf(*value.value), &out->symbols);
      break;
  }
}

uint32_t RowDecoder::Intern(absl::string_view symbol,
                            engine::SymbolTable* symbols) {
  if (symbol.empty()) return 0;
  const auto [entry, is_new] = symbol_index_.try_emplace(symbol, 0);
  if (is_new) entry->second = symbols->Add(symbol);
  return entry->second;
}

}  // namespace casement::rpc
