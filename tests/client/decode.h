// Columns back to rows, plainly: what a test compares.

#ifndef CASEMENT_TESTS_CLIENT_DECODE_H_
#define CASEMENT_TESTS_CLIENT_DECODE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "casement/v1/ingest.pb.h"
#include "client/event.h"

namespace casement::client {

struct DecodedEvent {
  std::optional<int64_t> time_us;
  std::map<std::string, Value> fields;  // Nulls are left out.
  std::string id;

  bool operator==(const DecodedEvent&) const = default;
};

inline bool BitAt(const std::string& bits, int i) {
  if (bits.empty()) return false;
  return ((bits.at(i / 8) >> (i % 8)) & 1) != 0;
}

inline std::vector<DecodedEvent> Decode(const v1::ColumnBatch& batch) {
  std::vector<DecodedEvent> events(batch.row_count());
  int64_t time = batch.base_time_us();
  for (int i = 0; i < batch.row_count(); ++i) {
    time += batch.event_time_deltas_us(i);
    if (!BitAt(batch.time_nulls(), i)) events[i].time_us = time;
    if (batch.has_event_ids()) {
      events[i].id = batch.symbols(batch.event_ids().indices(i));
    }
  }
  for (const v1::Column& column : batch.columns()) {
    for (int i = 0; i < batch.row_count(); ++i) {
      if (BitAt(column.nulls(), i)) continue;
      Value& value = events[i].fields[column.field()];
      if (column.has_int64s()) value = column.int64s().values(i);
      if (column.has_doubles()) value = column.doubles().values(i);
      if (column.data_case() == v1::Column::kBools) {
        value = BitAt(column.bools(), i);
      }
      if (column.has_symbols()) {
        value = batch.symbols(column.symbols().indices(i));
      }
      if (column.has_bytes_values()) {
        value = Bytes{column.bytes_values().values(i)};
      }
    }
  }
  return events;
}

inline DecodedEvent Decode(const v1::Event& row) {
  DecodedEvent event;
  if (row.has_event_time()) {
    event.time_us = row.event_time().seconds() * 1'000'000 +
                    row.event_time().nanos() / 1000;
  }
  event.id = row.event_id();
  for (const auto& [name, value] : row.fields()) {
    switch (value.kind_case()) {
      case v1::Value::kInt64Value:
        event.fields[name] = value.int64_value();
        break;
      case v1::Value::kDoubleValue:
        event.fields[name] = value.double_value();
        break;
      case v1::Value::kBoolValue:
        event.fields[name] = value.bool_value();
        break;
      case v1::Value::kStringValue:
        event.fields[name] = value.string_value();
        break;
      case v1::Value::kBytesValue:
        event.fields[name] = Bytes{value.bytes_value()};
        break;
      default:
        break;
    }
  }
  return event;
}

inline std::vector<DecodedEvent> Decode(const v1::Batch& batch) {
  if (batch.has_columns()) return Decode(batch.columns());
  std::vector<DecodedEvent> events;
  for (const v1::Event& row : batch.rows().events()) {
    events.push_back(Decode(row));
  }
  return events;
}

}  // namespace casement::client

#endif  // CASEMENT_TESTS_CLIENT_DECODE_H_
