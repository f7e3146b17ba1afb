#include "tests/crash/input.h"

#include <map>
#include <random>

#include "absl/strings/str_format.h"
#include "tests/crash/times.h"

namespace casement::stress {
namespace {

// 2026-01-05T00:00:00Z.
constexpr int64_t kStartUs = 1'767'571'200'000'000;
constexpr int64_t kStepUs = 20'000;

}  // namespace

std::vector<InputEvent> InputBatch(uint64_t seed, int producer,
                                   int64_t sequence) {
  std::seed_seq mixed = {seed & 0xffffffff, seed >> 32,
                         static_cast<uint64_t>(producer),
                         static_cast<uint64_t>(sequence)};
  std::mt19937_64 random(mixed);
  // By remainders: the standard's distributions differ between libraries.
  const auto below = [&random](uint64_t bound) {
    return static_cast<int64_t>(random() % bound);
  };
  std::vector<InputEvent> events;
  for (int i = 0; i < kEventsPerBatch; ++i) {
    InputEvent event;
    event.time_us = kStartUs +
                    ((sequence - 1) * kEventsPerBatch + i) * kStepUs -
                    below(kDisorderUs);
    event.key = absl::StrFormat("key-%02d", below(kKeys));
    event.amount = below(2'000) - 500;
    event.price = static_cast<double>(below(40'000) - 4'000) / 4;
    events.push_back(event);
  }
  return events;
}

v1::RowBatch ToRows(const std::vector<InputEvent>& events) {
  v1::RowBatch rows;
  for (const InputEvent& event : events) {
    v1::Event* row = rows.add_events();
    *row->mutable_event_time() = ToTimestamp(event.time_us);
    auto& fields = *row->mutable_fields();
    fields["key"].set_string_value(event.key);
    fields["amount"].set_int64_value(event.amount);
    fields["price"].set_double_value(event.price);
  }
  return rows;
}

v1::ColumnBatch ToColumns(const std::vector<InputEvent>& events) {
  v1::ColumnBatch batch;
  batch.set_row_count(static_cast<int32_t>(events.size()));
  batch.set_base_time_us(kStartUs);
  v1::Column* keys = batch.add_columns();
  keys->set_field("key");
  v1::Column* amounts = batch.add_columns();
  amounts->set_field("amount");
  v1::Column* prices = batch.add_columns();
  prices->set_field("price");
  std::map<std::string, uint32_t> symbols;
  batch.add_symbols("");
  int64_t before = kStartUs;
  for (const InputEvent& event : events) {
    batch.add_event_time_deltas_us(event.time_us - before);
    before = event.time_us;
    auto [symbol, is_new] = symbols.emplace(event.key, batch.symbols_size());
    if (is_new) batch.add_symbols(event.key);
    keys->mutable_symbols()->add_indices(symbol->second);
    amounts->mutable_int64s()->add_values(event.amount);
    prices->mutable_doubles()->add_values(event.price);
  }
  return batch;
}

}  // namespace casement::stress
