// The same events as rows and as columns are one batch to the engine: equal
// values, rejects and digests, and equal bytes in all that comes of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "casement/v1/ingest.pb.h"
#include "server/engine/stream.h"
#include "server/rpc/batch_decoder.h"
#include "tests/model/driver.h"
#include "tests/model/fingerprint.h"
#include "tests/model/generator.h"
#include "tests/model/model.h"
#include "tests/model/options.h"
#include "tests/model/random.h"
#include "tests/model/values.h"

namespace casement::model {
namespace {

using engine::FieldType;
using engine::ScalarValue;

// An event as a client means it, faults and all, in what both forms can say.
struct WireEvent {
  std::optional<engine::TimeUs> time;  // may be out of range
  std::vector<ScalarValue> values;     // a required one may be null
};

void SetTimestamp(engine::TimeUs time, int64_t nanos,
                  google::protobuf::Timestamp* timestamp) {
  int64_t seconds = time / 1'000'000;
  int64_t rest = time % 1'000'000;
  if (rest < 0) {
    rest += 1'000'000;
    --seconds;
  }
  timestamp->set_seconds(seconds);
  timestamp->set_nanos(static_cast<int32_t>(rest * 1000 + nanos));
}

void SetValue(const ScalarValue& value, v1::Value* to) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    to->set_int64_value(*number);
  } else if (const auto* real = std::get_if<double>(&value)) {
    to->set_double_value(*real);
  } else if (const auto* flag = std::get_if<bool>(&value)) {
    to->set_bool_value(*flag);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    to->set_string_value(*text);
  } else if (const auto* bytes = std::get_if<engine::Bytes>(&value)) {
    to->set_bytes_value(bytes->value);
  }
}

void FillRows(const engine::StreamSpec& spec,
              const std::vector<WireEvent>& events, Random* random,
              v1::RowBatch* rows) {
  for (const WireEvent& event : events) {
    v1::Event* row = rows->add_events();
    if (event.time.has_value()) {
      // Finer digits are floored.
      const int64_t nanos = random->OneIn(3) ? random->Between(0, 999) : 0;
      SetTimestamp(*event.time, nanos, row->mutable_event_time());
    }
    for (size_t f = 0; f < spec.fields.size(); ++f) {
      const bool null = event.values[f].index() == 0;
      // A null is a field that isn't there, or a value without a kind.
      if (null && random->Coin()) continue;
      SetValue(event.values[f], &(*row->mutable_fields())[spec.fields[f].name]);
    }
  }
}

void SetBit(size_t i, std::string* bitmap) {
  (*bitmap)[i / 8] |= static_cast<char>(1 << (i % 8));
}

std::string Bitmap(size_t rows) { return std::string((rows + 7) / 8, '\0'); }

uint32_t Symbol(const std::string& text, Random* random,
                v1::ColumnBatch* batch) {
  for (int i = 0; i < batch->symbols_size(); ++i) {
    if (batch->symbols(i) == text && !random->OneIn(4)) return i;
  }
  batch->add_symbols(text);
  return batch->symbols_size() - 1;
}

void AddToColumn(FieldType type, const ScalarValue& value, size_t row,
                 bool by_symbol, Random* random, v1::ColumnBatch* batch,
                 v1::Column* column) {
  const bool null = value.index() == 0;
  switch (type) {
    case FieldType::kInt64:
      column->mutable_int64s()->add_values(null ? 7 : std::get<int64_t>(value));
      return;
    case FieldType::kDouble:
      column->mutable_doubles()->add_values(null ? 7 : std::get<double>(value));
      return;
    case FieldType::kBool:
      if (null ? random->Coin() : std::get<bool>(value)) {
        SetBit(row, column->mutable_bools());
      }
      return;
    case FieldType::kString:
      column->mutable_symbols()->add_indices(
          null ? 0 : Symbol(std::get<std::string>(value), random, batch));
      return;
    case FieldType::kBytes: {
      const std::string bytes =
          null ? "" : std::get<engine::Bytes>(value).value;
      if (by_symbol) {
        column->mutable_symbols()->add_indices(Symbol(bytes, random, batch));
      } else {
        column->mutable_bytes_values()->add_values(bytes);
      }
      return;
    }
  }
}

void FillColumns(const engine::StreamSpec& spec,
                 const std::vector<WireEvent>& events, Random* random,
                 v1::ColumnBatch* batch) {
  const size_t rows = events.size();
  batch->set_row_count(static_cast<int32_t>(rows));
  batch->add_symbols("");
  std::string time_nulls = Bitmap(rows);
  bool any_without_time = false;
  engine::TimeUs sum =
      random->Coin() || rows == 0 ? 0 : events[0].time.value_or(5);
  batch->set_base_time_us(sum);
  for (size_t i = 0; i < rows; ++i) {
    if (!events[i].time.has_value()) {
      SetBit(i, &time_nulls);
      any_without_time = true;
    }
    const engine::TimeUs time = events[i].time.value_or(sum);
    batch->add_event_time_deltas_us(time - sum);
    sum = time;
  }
  if (any_without_time) batch->set_time_nulls(time_nulls);
  for (size_t f = 0; f < spec.fields.size(); ++f) {
    const bool all_null = std::all_of(
        events.begin(), events.end(),
        [f](const WireEvent& event) { return event.values[f].index() == 0; });
    if (rows == 0 || (all_null && random->Coin())) continue;
    v1::Column* column = batch->add_columns();
    column->set_field(spec.fields[f].name);
    std::string nulls = Bitmap(rows);
    bool any_null = false;
    if (spec.fields[f].type == FieldType::kBool) {
      column->set_bools(Bitmap(rows));
    }
    const bool by_symbol = random->Coin();
    for (size_t i = 0; i < rows; ++i) {
      const ScalarValue& value = events[i].values[f];
      if (value.index() == 0) {
        SetBit(i, &nulls);
        any_null = true;
      }
      AddToColumn(spec.fields[f].type, value, i, by_symbol, random, batch,
                  column);
    }
    if (any_null || random->Coin()) column->set_nulls(nulls);
  }
}

// Bad events become bad by what both forms can say; some have two faults.
std::vector<WireEvent> WireEvents(const engine::StreamSpec& spec,
                                  const std::vector<ScriptEvent>& events,
                                  Random* random) {
  std::vector<WireEvent> wire;
  for (const ScriptEvent& event : events) {
    WireEvent out{event.time, event.values};
    for (int64_t faults = event.bad ? random->Between(1, 2) : 0; faults > 0;
         --faults) {
      const size_t f = random->Bits() % std::max<size_t>(spec.fields.size(), 1);
      const int64_t kind = random->Between(0, 4);
      if (kind == 0 || spec.fields.empty()) {
        out.time.reset();
      } else if (kind == 1) {
        out.time = random->Coin() ? engine::kMaxEventTime + 1
                                  : engine::kMinEventTime - 1;
      } else if (spec.fields[f].type == FieldType::kString) {
        out.values[f] =
            random->Coin() ? std::string("\xff\xfe") : std::string(65537, 'x');
      } else if (spec.fields[f].type == FieldType::kBytes) {
        out.values[f] = engine::Bytes{std::string(65537, '\xff')};
      } else {
        out.values[f] = std::monostate();  // bad if it is required
      }
    }
    wire.push_back(std::move(out));
  }
  return wire;
}

std::string RejectsText(const engine::EventBatch& events) {
  std::string text;
  for (const engine::RejectedEvent& reject : events.rejects) {
    absl::StrAppend(&text, reject.index, " ", static_cast<int>(reject.reason),
                    " ", reject.field, "\n");
  }
  return text;
}

void ExpectEqualEvents(const engine::StreamSpec& spec,
                       const engine::EventBatch& a,
                       const engine::EventBatch& b) {
  ASSERT_EQ(a.sent_count, b.sent_count);
  ASSERT_EQ(RejectsText(a), RejectsText(b));
  ASSERT_EQ(a.times, b.times);
  for (int row = 0; row < a.row_count(); ++row) {
    ASSERT_EQ(a.SentIndex(row), b.SentIndex(row));
    ASSERT_EQ(ToText(Key(RowValues(a, row, spec))),
              ToText(Key(RowValues(b, row, spec))));
  }
  EXPECT_EQ(DigestOf(a), DigestOf(b));
}

v1::Batch WireBatch(const BatchStep& step, int64_t sequence) {
  v1::Batch batch;
  batch.set_sequence(sequence);
  if (step.asserted.has_value()) {
    SetTimestamp(*step.asserted, 0, batch.mutable_watermark_time());
  }
  batch.set_source_state(static_cast<v1::SourceState>(step.state));
  if (step.position.has_value()) batch.set_source_position(*step.position);
  return batch;
}

// A stream fed in one form.
struct Fed {
  explicit Fed(const engine::StreamSpec& spec)
      : stream(spec),
        decoder(std::make_shared<const engine::StreamSpec>(spec)) {}
  // What came of the batch, or why it was refused.
  std::string Take(const v1::Batch& batch, const BatchStep& step,
                   engine::BatchRecord* record) {
    if (absl::Status status = decoder.Decode(batch, record); !status.ok()) {
      return status.ToString();
    }
    record->producer = step.producer;
    record->epoch = stream.FindProducer(step.producer)->epoch;
    record->arrival_time = step.arrival;
    engine::SetDigest(record);
    const auto admission = stream.Admit(*record);
    if (!admission.ok()) return admission.status().ToString();
    engine::Changes changes;
    stream.Fold(*record, /*want_fates=*/true, &changes);
    return Fingerprint(changes);
  }
  engine::Stream stream;
  rpc::BatchDecoder decoder;
};

TEST(WireFormTest, RowsAndColumnsAreOne) {
  int batches = 0;
  int rejects = 0;
  ForEachSeed(120, [&](uint64_t seed) {
    Random random(seed);
    const Script script = Generate(seed);
    Fed by_rows(script.spec);
    Fed by_columns(script.spec);
    engine::Changes changes;
    Driver driver(script.spec);
    for (const Step& step : script.steps) {
      const auto* batch = std::get_if<BatchStep>(&step);
      if (batch == nullptr) {
        for (const engine::Record& record : driver.Records(step)) {
          if (!Admits(by_rows.stream, record)) continue;
          by_columns.stream.Fold(record, false, &changes);
          by_rows.stream.Fold(record, false, &changes);
          driver.Folded(record, changes.created_view);
        }
        continue;
      }
      const auto producer = by_rows.stream.FindProducer(batch->producer);
      if (!producer.has_value()) continue;
      const std::vector<WireEvent> events =
          WireEvents(script.spec, batch->events, &random);
      v1::Batch rows = WireBatch(*batch, producer->last_sequence + 1);
      v1::Batch columns = rows;
      FillRows(script.spec, events, &random, rows.mutable_rows());
      FillColumns(script.spec, events, &random, columns.mutable_columns());
      engine::BatchRecord from_rows;
      engine::BatchRecord from_columns;
      const std::string rows_came_to = by_rows.Take(rows, *batch, &from_rows);
      const std::string columns_came_to =
          by_columns.Take(columns, *batch, &from_columns);
      ASSERT_EQ(rows_came_to, columns_came_to) << ToText(script);
      ExpectEqualEvents(script.spec, from_rows.events, from_columns.events);
      ASSERT_EQ(from_rows.digest, from_columns.digest);
      ++batches;
      rejects += static_cast<int>(from_rows.events.rejects.size());
    }
    EXPECT_EQ(Fingerprint(by_rows.stream), Fingerprint(by_columns.stream));
  });
  if (batches < 500) return;
  EXPECT_GT(rejects, 50);
}

}  // namespace
}  // namespace casement::model
