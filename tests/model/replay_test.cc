// What a stream is follows from its records alone: the stored form of a record
// folds to the same bytes, from the start and from any checkpoint, in this
// process and in another.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/engine/stream.h"
#include "tests/model/driver.h"
#include "tests/model/fingerprint.h"
#include "tests/model/generator.h"
#include "tests/model/options.h"
#include "tests/model/random.h"
#include "tests/model/shrink.h"

namespace casement::model {
namespace {

using engine::Changes;
using engine::Record;
using engine::Stream;

constexpr size_t kChunkBound = (2 << 20) + (64 << 10);

std::vector<std::string> Checkpoint(const Stream& stream) {
  std::vector<std::string> chunks;
  stream.SaveCheckpoint([&chunks](uint32_t partition, std::string chunk) {
    EXPECT_LT(partition, 64u);
    EXPECT_LE(chunk.size(), kChunkBound);
    chunks.push_back(std::move(chunk));
  });
  return chunks;
}

absl::StatusOr<std::unique_ptr<Stream>> Load(
    const engine::StreamSpec& spec, const std::vector<std::string>& chunks) {
  size_t next = 0;
  return Stream::LoadCheckpoint(
      spec, [&]() -> absl::StatusOr<std::optional<std::string>> {
        if (next == chunks.size()) return std::optional<std::string>();
        return std::optional<std::string>(chunks[next++]);
      });
}

// Folds `record` as it is stored, and says what differs from `want`.
std::string FoldStored(const Record& record, const engine::StreamSpec& spec,
                       const Changes& want, Stream* stream) {
  const std::string bytes = engine::EncodeRecord(record, spec);
  absl::StatusOr<Record> stored = engine::DecodeRecord(bytes, spec);
  if (!stored.ok()) return stored.status().ToString();
  if (engine::EncodeRecord(*stored, spec) != bytes) {
    return "a decoded record encodes to other bytes";
  }
  if (!Admits(*stream, *stored)) return "a stored record is not admitted";
  Changes changes;
  stream->Fold(*std::move(stored), /*want_fates=*/true, &changes);
  if (Fingerprint(changes) == Fingerprint(want)) return "";
  return absl::StrCat("want ", Fingerprint(want), "\ngot  ",
                      Fingerprint(changes));
}

// The first difference, over one script. `seed` says where the checkpoints are.
std::string Replay(const Script& script, uint64_t seed) {
  Random random(seed);
  Stream stream(script.spec);
  Stream again(script.spec);
  std::unique_ptr<Stream> loaded;
  std::string difference;
  FoldScript(script, /*want_fates=*/true, &stream,
             [&](const Record& record, const Changes& changes) {
               if (!difference.empty()) return;
               difference = FoldStored(record, script.spec, changes, &again);
               if (difference.empty() && loaded != nullptr) {
                 difference =
                     FoldStored(record, script.spec, changes, loaded.get());
                 if (!difference.empty()) difference += "\nfrom a checkpoint";
               }
               if (!difference.empty() || !random.OneIn(5)) return;
               auto from = Load(script.spec, Checkpoint(stream));
               if (!from.ok()) {
                 difference = from.status().ToString();
                 return;
               }
               loaded = *std::move(from);
               if (Fingerprint(*loaded) != Fingerprint(stream)) {
                 difference = absl::StrCat("loaded: want ", Fingerprint(stream),
                                           "\ngot  ", Fingerprint(*loaded));
               }
             });
  if (difference.empty() && Fingerprint(again) != Fingerprint(stream)) {
    difference = "the stream after a replay";
  }
  return difference;
}

TEST(ReplayTest, EqualRecordsGiveEqualBytes) {
  ForEachSeed(200, [](uint64_t seed) {
    const Script script = Generate(seed);
    if (Replay(script, seed).empty()) return;
    const Script small = Shrink(script, [seed](const Script& smaller) {
      return !Replay(smaller, seed).empty();
    });
    ADD_FAILURE() << Replay(small, seed) << "\n" << ToText(small);
  });
}

// A repeat is answered as before also by a stream that was loaded.
TEST(ReplayTest, ACheckpointRemembersAnswers) {
  ForEachSeed(30, [](uint64_t seed) {
    const Script script = Generate(seed);
    Stream stream(script.spec);
    std::vector<engine::BatchRecord> sent;
    FoldScript(
        script, /*want_fates=*/false, &stream,
        [&sent](const Record& record, const Changes&) {
          if (const auto* batch = std::get_if<engine::BatchRecord>(&record)) {
            sent.push_back(*batch);
          }
        });
    auto loaded = Load(script.spec, Checkpoint(stream));
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    for (engine::BatchRecord& batch : sent) {
      batch.epoch = stream.FindProducer(batch.producer)->epoch;
      const auto want = stream.Admit(batch);
      const auto got = (*loaded)->Admit(batch);
      ASSERT_EQ(want.status().code(), got.status().code());
      if (!want.ok()) continue;
      ASSERT_TRUE(want->has_value());
      ASSERT_TRUE(got->has_value());
      EXPECT_TRUE((*got)->repeat);
      EXPECT_EQ((*want)->version, (*got)->version);
      EXPECT_EQ((*want)->accepted, (*got)->accepted);
      EXPECT_EQ((*want)->late, (*got)->late);
      EXPECT_EQ((*want)->rejected_by_reason, (*got)->rejected_by_reason);
      EXPECT_EQ((*want)->progress, (*got)->progress);
    }
  });
}

// Many keys, long keys and many open windows make many chunks, each bounded.
TEST(ReplayTest, ChunksAreBounded) {
  Script script;
  script.spec.fields = {{"name", engine::FieldType::kString}};
  script.spec.watermark.max_delay_us = 1'000'000'000;
  for (const engine::WindowKind kind :
       {engine::WindowKind::kTumbling, engine::WindowKind::kSession}) {
    CreateViewStep create;
    create.definition.id = kind == engine::WindowKind::kSession ? "s" : "t";
    create.definition.spec.window = {
        .kind = kind, .size_us = 1000, .period_us = 1000, .gap_us = 1000};
    create.definition.spec.group_by = {"name"};
    create.definition.spec.aggregates = {
        {"n", engine::Function::kCount, ""},
        {"d", engine::Function::kDistinctCount, "name"}};
    script.steps.emplace_back(create);
  }
  script.steps.emplace_back(OpenStep{"p0"});
  Random random(7);
  for (int b = 0; b < 20; ++b) {
    BatchStep batch;
    batch.producer = "p0";
    batch.layout = 1;
    for (int i = 0; i < 500; ++i) {
      batch.events.push_back(
          {std::nullopt,
           random.Between(0, 100'000),
           {absl::StrCat(std::string(1000, 'k'), random.Between(0, 9999))}});
    }
    script.steps.emplace_back(std::move(batch));
  }
  Stream stream(script.spec);
  FoldScript(script, false, &stream, [](const Record&, const Changes&) {});
  ASSERT_EQ(stream.accounts().accepted, 10'000);
  const std::vector<std::string> chunks = Checkpoint(stream);
  EXPECT_GE(chunks.size(), 5u);
  auto loaded = Load(script.spec, chunks);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_TRUE(Fingerprint(**loaded) == Fingerprint(stream));
}

// Hashing is seeded differently in each process; nothing of it may show.
TEST(ReplayTest, AnotherProcessGivesTheSameBytes) {
  auto run = [] {
    std::string output;
    FILE* pipe = popen("exec /proc/$PPID/exe --print_fingerprints", "r");
    if (pipe == nullptr) return output;
    char buffer[256];
    while (std::fgets(buffer, sizeof(buffer), pipe) != nullptr) {
      output += buffer;
    }
    pclose(pipe);
    return output;
  };
  const std::string first = run();
  ASSERT_FALSE(first.empty());
  EXPECT_EQ(first, run());
}

}  // namespace
}  // namespace casement::model
