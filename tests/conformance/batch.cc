#include "tests/conformance/batch.h"

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "tests/conformance/values.h"

namespace casement::conformance {
namespace {

bool FitsInt64(absl::int128 value) {
  return value >= std::numeric_limits<int64_t>::min() &&
         value <= std::numeric_limits<int64_t>::max();
}

void SetBit(size_t index, std::string* bits) {
  if (bits->size() <= index / 8) bits->resize(index / 8 + 1, '\0');
  (*bits)[index / 8] |= static_cast<char>(1 << (index % 8));
}

// The strings of a batch, each once; the first is empty.
class SymbolTable {
 public:
  explicit SymbolTable(v1::ColumnBatch* batch) : batch_(batch) { IndexOf(""); }

  uint32_t IndexOf(const std::string& text) {
    auto [place, is_new] = indices_.emplace(text, batch_->symbols_size());
    if (is_new) batch_->add_symbols(text);
    return place->second;
  }

 private:
  v1::ColumnBatch* batch_;
  std::map<std::string, uint32_t> indices_;
};

// Adds one value, or the empty slot of a null. The value is of the type.
void AddValue(const v1::Value& value, const std::string& type,
              SymbolTable* symbols, v1::Column* column) {
  if (type == "int64") {
    column->mutable_int64s()->add_values(value.int64_value());
  } else if (type == "double") {
    column->mutable_doubles()->add_values(value.double_value());
  } else {
    column->mutable_symbols()->add_indices(
        symbols->IndexOf(value.string_value()));
  }
}

// False if a value is of another type. A column of nothing but nulls is left
// out: to the API that is the same.
template <typename ValueOf>
bool AddColumn(const std::string& field, const std::string& type,
               absl::Span<const Event* const> events, ValueOf value_of,
               SymbolTable* symbols, v1::ColumnBatch* batch) {
  v1::Column column;
  column.set_field(field);
  std::string nulls;
  size_t null_count = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    const FieldValue value = ToFieldValue(value_of(*events[i]), type);
    if (!value.fits) return false;
    if (value.value.kind_case() == v1::Value::KIND_NOT_SET) {
      SetBit(i, &nulls);
      ++null_count;
    }
    AddValue(value.value, type, symbols, &column);
  }
  if (null_count == events.size()) return true;
  if (null_count > 0) {
    nulls.resize((events.size() + 7) / 8, '\0');
    column.set_nulls(std::move(nulls));
  }
  *batch->add_columns() = std::move(column);
  return true;
}

// False if the times, or the steps between them, are beyond 64 bits.
bool AddTimes(absl::Span<const Event* const> events, v1::ColumnBatch* batch) {
  std::optional<Micros> before;
  std::string nulls;
  for (size_t i = 0; i < events.size(); ++i) {
    const std::optional<Micros>& time = events[i]->time;
    Micros delta = 0;
    if (!time.has_value()) {
      SetBit(i, &nulls);
    } else if (!FitsInt64(*time)) {
      return false;
    } else if (!before.has_value()) {
      batch->set_base_time_us(static_cast<int64_t>(*time));
      before = time;
    } else {
      delta = *time - *before;
      before = time;
    }
    if (!FitsInt64(delta)) return false;
    batch->add_event_time_deltas_us(static_cast<int64_t>(delta));
  }
  if (!nulls.empty()) {
    nulls.resize((events.size() + 7) / 8, '\0');
    batch->set_time_nulls(std::move(nulls));
  }
  return true;
}

const Json& FieldOf(const Event& event, const std::string& name) {
  static const Json* const kNull = new Json();
  auto field = event.fields.find(name);
  return field == event.fields.end() ? *kNull : field->second;
}

}  // namespace

v1::RowBatch MakeRows(absl::Span<const Event* const> events,
                      const Pipeline& pipeline, const ApiNames& names) {
  v1::RowBatch rows;
  for (const Event* event : events) {
    v1::Event* row = rows.add_events();
    if (event->time.has_value()) {
      *row->mutable_event_time() = ToTimestamp(*event->time);
    }
    // A null that the case says goes as a value without a kind, a field that
    // it leaves out is left out.
    if (pipeline.keyed && !event->key.is_null()) {
      (*row->mutable_fields())[names.key()] =
          ToFieldValue(event->key, "string").value;
    }
    for (const auto& [name, json] : event->fields) {
      auto field = pipeline.fields.find(name);
      (*row->mutable_fields())[names.OfField(name)] =
          ToFieldValue(json,
                       field == pipeline.fields.end() ? "" : field->second)
              .value;
    }
    if (pipeline.dedup == "event_id") row->set_event_id(event->id);
  }
  return rows;
}

std::optional<v1::ColumnBatch> MakeColumns(
    absl::Span<const Event* const> events, const Pipeline& pipeline,
    const ApiNames& names) {
  v1::ColumnBatch batch;
  batch.set_row_count(static_cast<int32_t>(events.size()));
  if (!AddTimes(events, &batch)) return std::nullopt;
  for (const Event* event : events) {
    for (const auto& [name, json] : event->fields) {
      if (pipeline.fields.count(name) == 0) return std::nullopt;
    }
  }
  SymbolTable symbols(&batch);
  if (pipeline.keyed &&
      !AddColumn(
          names.key(), "string", events,
          [](const Event& event) -> const Json& { return event.key; }, &symbols,
          &batch)) {
    return std::nullopt;
  }
  for (const auto& [name, type] : pipeline.fields) {
    if (!AddColumn(
            names.OfField(name), type, events,
            [&name = name](const Event& event) -> const Json& {
              return FieldOf(event, name);
            },
            &symbols, &batch)) {
      return std::nullopt;
    }
  }
  if (pipeline.dedup == "event_id") {
    for (const Event* event : events) {
      batch.mutable_event_ids()->add_indices(symbols.IndexOf(event->id));
    }
  }
  return batch;
}

}  // namespace casement::conformance
