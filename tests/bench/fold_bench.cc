// What the fold costs an event: batches of 16,384 events over 100,000 keys
// (zipf-like), times in order with a second of disorder, count + sum + min +
// max of a double; tumbling minutes, sliding 60 s / 1 s, and 30 s sessions.
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "server/engine/stream.h"

namespace casement::engine {
namespace {

constexpr int kBatchEvents = 16384;
constexpr int kBatches = 64;
constexpr int64_t kSecond = 1'000'000;

StreamSpec BenchStream() {
  StreamSpec spec;
  spec.fields = {{"key", FieldType::kString, false},
                 {"value", FieldType::kDouble, false}};
  spec.watermark.max_delay_us = kSecond;
  return spec;
}

ViewSpec BenchView(const WindowSpec& window) {
  ViewSpec spec;
  spec.window = window;
  spec.group_by = {"key"};
  spec.aggregates = {{"n", Function::kCount, ""},
                     {"total", Function::kSum, "value"},
                     {"least", Function::kMin, "value"},
                     {"greatest", Function::kMax, "value"}};
  return spec;
}

// Batch number `n`, with a dictionary of its own.
EventBatch MakeBatch(int n, int keys, std::mt19937_64* random) {
  EventBatch batch;
  batch.sent_count = kBatchEvents;
  batch.columns.resize(2);
  batch.columns[0].present = batch.columns[1].present = true;
  batch.symbols.Add("");
  std::vector<uint32_t> symbol_of(keys, 0);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int i = 0; i < kBatchEvents; ++i) {
    // Log-uniform ranks: close to zipf(1).
    const int key = static_cast<int>(std::pow(keys, uniform(*random))) - 1;
    if (symbol_of[key] == 0) {
      symbol_of[key] =
          batch.symbols.Add("key-" + std::to_string(key + 10000000));
    }
    const int64_t at = static_cast<int64_t>(n) * kBatchEvents + i;
    batch.times.push_back(at * 60 -
                          static_cast<int64_t>(uniform(*random) * kSecond));
    batch.columns[0].symbols.push_back(symbol_of[key]);
    batch.columns[1].doubles.push_back(std::round(uniform(*random) * 1e4) /
                                       100);
  }
  return batch;
}

void Fold(benchmark::State& state, const WindowSpec& window) {
  std::mt19937_64 random(1);
  std::vector<EventBatch> batches;
  for (int n = 0; n < kBatches; ++n) {
    batches.push_back(MakeBatch(n, static_cast<int>(state.range(0)), &random));
  }
  Stream stream(BenchStream());
  Changes changes;
  CreateViewRecord create;
  create.definition.id = "view";
  create.definition.spec = BenchView(window);
  stream.Fold(create, false, &changes);
  stream.Fold(OpenProducerRecord{"p"}, false, &changes);
  int64_t sequence = 0;
  int64_t results = 0;
  const int64_t span = int64_t{kBatches} * kBatchEvents * 60;
  for (auto _ : state) {
    state.PauseTiming();
    BatchRecord record;
    record.producer = "p";
    record.epoch = 1;
    record.sequence = ++sequence;
    record.events = batches[(sequence - 1) % kBatches];
    for (TimeUs& time : record.events.times) {
      time += (sequence - 1) / kBatches * span;
    }
    state.ResumeTiming();
    stream.Fold(Record(std::move(record)), false, &changes);
    for (const ViewChanges& view : changes.views) {
      results += static_cast<int64_t>(view.results.size());
    }
  }
  state.SetItemsProcessed(state.iterations() * kBatchEvents);
  state.counters["results/event"] = static_cast<double>(results) /
                                    static_cast<double>(state.iterations()) /
                                    kBatchEvents;
}

void Tumbling(benchmark::State& state) {
  WindowSpec window;
  window.size_us = 60 * kSecond;
  Fold(state, window);
}
void Sliding(benchmark::State& state) {
  WindowSpec window;
  window.kind = WindowKind::kSliding;
  window.size_us = 60 * kSecond;
  window.period_us = kSecond;
  Fold(state, window);
}
void Session(benchmark::State& state) {
  WindowSpec window;
  window.kind = WindowKind::kSession;
  window.gap_us = 30 * kSecond;
  Fold(state, window);
}
BENCHMARK(Tumbling)->Arg(1000)->Arg(100000);
BENCHMARK(Sliding)->Arg(1000);
BENCHMARK(Session)->Arg(1000)->Arg(100000);

void Digest(benchmark::State& state) {
  std::mt19937_64 random(1);
  const EventBatch batch = MakeBatch(0, 100000, &random);
  for (auto _ : state) benchmark::DoNotOptimize(DigestOf(batch));
  state.SetItemsProcessed(state.iterations() * kBatchEvents);
}
BENCHMARK(Digest);

void Encode(benchmark::State& state) {
  std::mt19937_64 random(1);
  BatchRecord record;
  record.events = MakeBatch(0, 100000, &random);
  const StreamSpec spec = BenchStream();
  const Record wrapped(std::move(record));
  for (auto _ : state) benchmark::DoNotOptimize(EncodeRecord(wrapped, spec));
  state.SetItemsProcessed(state.iterations() * kBatchEvents);
}
BENCHMARK(Encode);

}  // namespace
}  // namespace casement::engine
