// Bytes that are cut or altered decode to a status or a value; never to a
// crash, an endless loop or memory without bound.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "server/engine/stream.h"
#include "tests/model/driver.h"
#include "tests/model/generator.h"
#include "tests/model/options.h"
#include "tests/model/random.h"

namespace casement::model {
namespace {

using engine::Changes;
using engine::Record;
using engine::Stream;

// Calls `decode` with `bytes` cut and altered in many ways.
void Damage(const std::string& bytes, Random* random,
            const std::function<void(const std::string&)>& decode) {
  decode(bytes);
  decode("");
  for (int i = 0; i < 20 && !bytes.empty(); ++i) {
    const auto size = static_cast<int64_t>(bytes.size());
    decode(bytes.substr(0, random->Between(0, size - 1)));
    decode(bytes.substr(random->Between(0, size - 1)));
    std::string altered = bytes;
    for (int64_t n = random->Between(1, 3); n > 0; --n) {
      altered[random->Between(0, size - 1)] ^=
          static_cast<char>(1 << random->Between(0, 7));
    }
    decode(altered);
    altered = bytes;
    altered[random->Between(0, size - 1)] = static_cast<char>(0xff);
    decode(altered);
    decode(bytes + bytes.substr(0, random->Between(1, size)));
    std::string noise;
    for (int64_t n = random->Between(1, 40); n > 0; --n) {
      noise.push_back(static_cast<char>(random->Between(0, 255)));
    }
    decode(noise);
    decode(bytes.substr(0, random->Between(0, size - 1)) + noise);
  }
}

TEST(DecodeTest, DamagedRecords) {
  ForEachSeed(25, [](uint64_t seed) {
    Random random(seed);
    const Script script = Generate(seed);
    for (const Record& record : RecordsOf(script)) {
      const std::string bytes = engine::EncodeRecord(record, script.spec);
      Damage(bytes, &random, [&script](const std::string& damaged) {
        const auto decoded = engine::DecodeRecord(damaged, script.spec);
        if (!decoded.ok()) {
          EXPECT_EQ(decoded.status().code(), absl::StatusCode::kDataLoss)
              << decoded.status();
          return;
        }
        // What decodes is whole: it can be written and walked over.
        const std::string again = engine::EncodeRecord(*decoded, script.spec);
        EXPECT_TRUE(engine::DecodeRecord(again, script.spec).ok());
        if (const auto* batch = std::get_if<engine::BatchRecord>(&*decoded)) {
          engine::DigestOf(batch->events);
        }
      });
    }
  });
}

TEST(DecodeTest, RecordsCutShortAreRefused) {
  ForEachSeed(10, [](uint64_t seed) {
    const Script script = Generate(seed);
    for (const Record& record : RecordsOf(script)) {
      const std::string bytes = engine::EncodeRecord(record, script.spec);
      for (size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(
            engine::DecodeRecord(bytes.substr(0, size), script.spec).ok());
      }
      EXPECT_FALSE(engine::DecodeRecord(bytes + "x", script.spec).ok());
    }
  });
}

TEST(DecodeTest, DamagedResultsAndKeys) {
  ForEachSeed(25, [](uint64_t seed) {
    Random random(seed);
    const Script script = Generate(seed);
    Stream stream(script.spec);
    FoldScript(script, false, &stream, [&](const Record&, const Changes& c) {
      for (const engine::ViewChanges& view : c.views) {
        for (const engine::ResultEntry& entry : view.results) {
          if (!random.OneIn(10)) continue;
          Damage(std::string(entry.log_entry), &random,
                 [](const std::string& damaged) {
                   engine::DecodeLogEntry(damaged, 1).IgnoreError();
                   engine::PeekFinality(damaged).IgnoreError();
                 });
          Damage(std::string(entry.row), &random,
                 [](const std::string& damaged) {
                   engine::DecodeRow(damaged).IgnoreError();
                 });
          Damage(std::string(entry.key), &random,
                 [](const std::string& damaged) {
                   engine::DecodeKey(damaged).IgnoreError();
                 });
        }
      }
    });
  });
}

TEST(DecodeTest, DamagedDefinitions) {
  ForEachSeed(25, [](uint64_t seed) {
    Random random(seed);
    const Script script = Generate(seed);
    for (const Step& step : script.steps) {
      const auto* create = std::get_if<CreateViewStep>(&step);
      if (create == nullptr) continue;
      Damage(engine::EncodeDefinition(create->definition), &random,
             [](const std::string& damaged) {
               engine::ViewDefinition definition;
               engine::DecodeDefinition(damaged, &definition).IgnoreError();
             });
    }
    engine::StreamDefinition stream;
    stream.id = "s";
    stream.spec = script.spec;
    Damage(engine::EncodeDefinition(stream), &random,
           [](const std::string& damaged) {
             engine::StreamDefinition definition;
             engine::DecodeDefinition(damaged, &definition).IgnoreError();
           });
  });
}

TEST(DecodeTest, DamagedCheckpoints) {
  ForEachSeed(12, [](uint64_t seed) {
    Random random(seed);
    const Script script = Generate(seed);
    Stream stream(script.spec);
    FoldScript(script, false, &stream, [](const Record&, const Changes&) {});
    std::vector<std::string> chunks;
    stream.SaveCheckpoint([&chunks](uint32_t, std::string chunk) {
      chunks.push_back(std::move(chunk));
    });
    auto load = [&script](const std::vector<std::string>& from) {
      size_t next = 0;
      return Stream::LoadCheckpoint(
                 script.spec,
                 [&]() -> absl::StatusOr<std::optional<std::string>> {
                   if (next == from.size()) return std::optional<std::string>();
                   return std::optional<std::string>(from[next++]);
                 })
          .status();
    };
    EXPECT_TRUE(load(chunks).ok());
    EXPECT_FALSE(load({}).ok());
    EXPECT_FALSE(load({chunks.begin() + 1, chunks.end()}).ok());
    for (size_t i = 0; i < chunks.size(); ++i) {
      std::vector<std::string> damaged = chunks;
      Damage(chunks[i], &random, [&](const std::string& chunk) {
        damaged[i] = chunk;
        load(damaged).IgnoreError();
      });
    }
  });
}

}  // namespace
}  // namespace casement::model
