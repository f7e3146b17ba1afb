// With AFTER_EACH_EVENT, final results (but for their versions) and accounts
// do not depend on how the same events are cut into batches.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/engine/stream.h"
#include "tests/model/compare_results.h"
#include "tests/model/driver.h"
#include "tests/model/generator.h"
#include "tests/model/options.h"
#include "tests/model/random.h"
#include "tests/model/shrink.h"

namespace casement::model {
namespace {

using engine::Changes;
using engine::Record;
using engine::SourceState;
using engine::Stream;

bool SaysSomething(const BatchStep& step) {
  return step.asserted.has_value() || step.state != SourceState::kUnchanged ||
         step.position.has_value();
}

// The same events and statements in the same order, in other batches.
Script CutAgain(const Script& script, uint64_t seed) {
  Random random(seed);
  Script cut{script.spec, {}};
  for (const Step& step : script.steps) {
    const auto* batch = std::get_if<BatchStep>(&step);
    if (batch == nullptr) {
      cut.steps.push_back(step);
      continue;
    }
    BatchStep part = *batch;
    part.events.clear();
    // Go on in the batch before, if that is of the same producer and ended
    // with no statement.
    if (!cut.steps.empty() && random.Coin()) {
      auto* before = std::get_if<BatchStep>(&cut.steps.back());
      if (before != nullptr && before->producer == batch->producer &&
          !SaysSomething(*before)) {
        part.events = before->events;
        cut.steps.pop_back();
      }
    }
    for (const ScriptEvent& event : batch->events) {
      if (!part.events.empty() && random.OneIn(3)) {
        BatchStep piece = part;
        piece.asserted.reset();
        piece.position.reset();
        piece.state = SourceState::kUnchanged;
        cut.steps.emplace_back(std::move(piece));
        part.events.clear();
      }
      part.events.push_back(event);
    }
    cut.steps.emplace_back(std::move(part));
  }
  return cut;
}

// All that must not depend on the cuts.
std::multiset<std::string> Facts(const Script& script) {
  std::multiset<std::string> facts;
  Stream stream(script.spec);
  FoldScript(
      script, /*want_fates=*/false, &stream,
      [&facts](const Record&, const Changes& changes) {
        for (const engine::ViewChanges& view : changes.views) {
          for (const engine::ResultEntry& entry : view.results) {
            const auto result =
                engine::DecodeLogEntry(entry.log_entry, /*version=*/0);
            ASSERT_TRUE(result.ok()) << result.status();
            if (result->finality != engine::Finality::kFinal) continue;
            engine::Result fact = *result;
            fact.replaced_windows.clear();  // of provisional rows
            facts.insert(absl::StrCat(view.view_number, " ", ToText(fact)));
          }
        }
      });
  for (const engine::Stream::ViewInfo& view : stream.ListViews()) {
    const engine::ViewAccounts& a = view.accounts;
    facts.insert(absl::StrCat("accounts of ", view.number, " ", a.accepted, " ",
                              a.counted, " ", a.late, " ", a.unassigned, " ",
                              a.late_places, " ") +
                 absl::StrCat(a.final_results));
  }
  facts.insert(absl::StrCat("stream ", stream.accounts().accepted, " ",
                            stream.accounts().late, " W ",
                            stream.progress().watermark));
  return facts;
}

std::string Differ(const Script& script, uint64_t seed) {
  const std::multiset<std::string> want = Facts(script);
  const std::multiset<std::string> got = Facts(CutAgain(script, seed));
  for (const std::string& fact : want) {
    if (got.count(fact) != want.count(fact)) return "only before: " + fact;
  }
  for (const std::string& fact : got) {
    if (got.count(fact) != want.count(fact)) return "only after: " + fact;
  }
  return "";
}

TEST(CutsTest, FinalResultsDoNotDependOnBatches) {
  size_t facts = 0;
  ForEachSeed(200, [&facts](uint64_t seed) {
    const Script script = Generate(seed, {.cuttable = true});
    facts += Facts(script).size();
    if (Differ(script, seed).empty()) return;
    const Script small = Shrink(script, [seed](const Script& smaller) {
      return !Differ(smaller, seed).empty();
    });
    ADD_FAILURE() << Differ(small, seed) << "\n"
                  << ToText(small) << "\ncut again:\n"
                  << ToText(CutAgain(small, seed));
  });
  EXPECT_GT(facts, 20u);
}

// An empty statement aside, one event a batch is the finest cut there is.
TEST(CutsTest, OneEventABatch) {
  ForEachSeed(60, [](uint64_t seed) {
    const Script script = Generate(seed, {.cuttable = true});
    Script fine{script.spec, {}};
    for (const Step& step : script.steps) {
      const auto* batch = std::get_if<BatchStep>(&step);
      if (batch == nullptr || batch->events.size() < 2) {
        fine.steps.push_back(step);
        continue;
      }
      for (size_t i = 0; i < batch->events.size(); ++i) {
        BatchStep one = *batch;
        one.events = {batch->events[i]};
        if (i + 1 < batch->events.size()) {
          one.asserted.reset();
          one.position.reset();
          one.state = SourceState::kUnchanged;
        }
        fine.steps.emplace_back(std::move(one));
      }
    }
    EXPECT_EQ(Facts(script), Facts(fine));
  });
}

}  // namespace
}  // namespace casement::model
