// Properties that need no model: what must hold between views, orders and
// counts whatever the events are.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/engine/stream.h"
#include "tests/model/compare_results.h"
#include "tests/model/driver.h"
#include "tests/model/generator.h"
#include "tests/model/options.h"
#include "tests/model/random.h"

namespace casement::model {
namespace {

using engine::Changes;
using engine::Finality;
using engine::Record;
using engine::Result;
using engine::Stream;
using engine::WindowKind;

// The results of each view that a record brought out, by the view's id.
std::map<std::string, std::vector<Result>> ResultsById(const Stream& stream,
                                                       const Changes& changes) {
  std::map<std::string, std::vector<Result>> results;
  for (const engine::ViewChanges& view : changes.views) {
    const auto info = stream.FindView(view.view_number);
    if (!info.has_value()) continue;
    for (const engine::ResultEntry& entry : view.results) {
      const auto result =
          engine::DecodeLogEntry(entry.log_entry, changes.version);
      EXPECT_TRUE(result.ok()) << result.status();
      if (result.ok()) results[info->definition->id].push_back(*result);
    }
  }
  return results;
}

std::vector<std::string> Texts(const std::vector<Result>& results) {
  std::vector<std::string> texts;
  for (const Result& result : results) {
    texts.push_back(absl::StrCat(ToText(result)));
  }
  return texts;
}

TEST(IdentitiesTest, TumblingIsSlidingWithItsSizeAsPeriod) {
  ForEachSeed(80, [](uint64_t seed) {
    const Script plain = Generate(seed);
    Script script{plain.spec, {}};
    std::vector<std::string> twins;
    for (const Step& step : plain.steps) {
      const auto* create = std::get_if<CreateViewStep>(&step);
      if (create == nullptr) {
        // A deleted view would leave its twin behind.
        if (!std::holds_alternative<DeleteViewStep>(step)) {
          script.steps.push_back(step);
        }
        continue;
      }
      CreateViewStep tumbling = *create;
      engine::WindowSpec& window = tumbling.definition.spec.window;
      window.size_us = std::max(window.size_us, window.gap_us);
      window.period_us = window.size_us;
      window.offset_us %= window.size_us;
      window.gap_us = 0;
      window.kind = WindowKind::kTumbling;
      script.steps.emplace_back(tumbling);
      twins.push_back(tumbling.definition.id);
      window.kind = WindowKind::kSliding;
      tumbling.definition.id += "s";
      script.steps.emplace_back(tumbling);
    }
    Stream stream(script.spec);
    FoldScript(script, false, &stream, [&](const Record&, const Changes& c) {
      auto results = ResultsById(stream, c);
      for (const std::string& id : twins) {
        ASSERT_EQ(Texts(results[id]), Texts(results[id + "s"]))
            << ToText(script);
      }
    });
  });
}

TEST(IdentitiesTest, EventsInTumblingWindowsAreTheCountedOnes) {
  ForEachSeed(120, [](uint64_t seed) {
    Script script = Generate(seed);
    script.steps.emplace_back(EndStep{});
    Stream stream(script.spec);
    std::map<std::string, int64_t> placed;
    // One final row an identity; a window is whole in the open ones or final.
    std::map<std::string, std::set<std::string>> identities;
    FoldScript(script, false, &stream, [&](const Record&, const Changes& c) {
      for (const auto& [id, results] : ResultsById(stream, c)) {
        for (const Result& result : results) {
          if (result.finality != Finality::kFinal) continue;
          placed[id] += result.event_count;
          EXPECT_TRUE(
              identities[id]
                  .insert(absl::StrCat(result.window.start, " ",
                                       result.window.end, " ", result.key))
                  .second)
              << "final twice: " << ToText(result);
        }
      }
    });
    ASSERT_TRUE(stream.ended());
    for (const Stream::ViewInfo& view : stream.ListViews()) {
      EXPECT_TRUE(stream.OpenWindows(view.number, {}, 10).empty());
      EXPECT_EQ(view.live_keys, 0);
      if (view.definition->spec.window.kind == WindowKind::kSliding) continue;
      EXPECT_EQ(placed[view.definition->id], view.accounts.counted)
          << ToText(script);
    }
  });
}

// Events that arrive at most `delay` after a later one.
struct SessionInput {
  Script script;                    // the views and the producer
  std::vector<ScriptEvent> events;  // by time
  int64_t delay = 0;
};

SessionInput MakeSessionInput(Random* random) {
  SessionInput input;
  const int64_t unit = random->Pick<int64_t>({1, 1000, 60'000'000});
  input.delay = random->Between(0, 30) * unit;
  input.script.spec.fields = {{"k", engine::FieldType::kInt64},
                              {"x", engine::FieldType::kInt64}};
  input.script.spec.watermark.max_delay_us = input.delay;
  for (int i = 0; i < 4; ++i) {
    CreateViewStep create;
    create.definition.id = absl::StrCat("v", i);
    engine::ViewSpec& spec = create.definition.spec;
    spec.window.kind = WindowKind::kSession;
    spec.window.gap_us = random->Between(1, 8) * unit;
    spec.window.gap_rule =
        i % 2 == 0 ? engine::GapRule::kInclusive : engine::GapRule::kExclusive;
    spec.late_rule = i < 2 ? engine::LateRule::kWindowClosed
                           : engine::LateRule::kBehindWatermark;
    if (random->Coin()) spec.group_by = {"k"};
    spec.aggregates = {{"n", engine::Function::kCount, ""},
                       {"s", engine::Function::kSum, "x"}};
    spec.trigger.early_every_batch = random->Coin();
    input.script.steps.emplace_back(create);
  }
  input.script.steps.emplace_back(OpenStep{"p0"});
  engine::TimeUs time = random->Pick<engine::TimeUs>({0, -5'000'000'000});
  for (int i = 0; i < 60; ++i) {
    time += random->Between(0, 6) * unit + (random->OneIn(4) ? 1 : 0);
    input.events.push_back(
        {std::nullopt, time, {random->Between(0, 2), random->Between(0, 99)}});
  }
  return input;
}

std::set<std::string> FinalSessions(const SessionInput& input, Random* random) {
  // In the order of time plus up to `delay`: no event is then behind the
  // watermark when it comes.
  std::vector<std::pair<engine::TimeUs, ScriptEvent>> arrivals;
  for (const ScriptEvent& event : input.events) {
    arrivals.emplace_back(event.time + random->Between(0, input.delay), event);
  }
  std::stable_sort(
      arrivals.begin(), arrivals.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  Script script = input.script;
  for (const auto& [arrival, event] : arrivals) {
    auto* last = std::get_if<BatchStep>(&script.steps.back());
    if (last == nullptr || random->OneIn(4)) {
      BatchStep batch;
      batch.producer = "p0";
      script.steps.emplace_back(batch);
      last = std::get_if<BatchStep>(&script.steps.back());
    }
    last->events.push_back(event);
  }
  script.steps.emplace_back(EndStep{});
  std::set<std::string> finals;
  Stream stream(script.spec);
  FoldScript(script, false, &stream, [&](const Record&, const Changes& c) {
    for (auto& [id, results] : ResultsById(stream, c)) {
      for (Result& result : results) {
        if (result.finality != Finality::kFinal) continue;
        result.version = 0;
        result.replaced_windows.clear();
        finals.insert(absl::StrCat(id, " ", ToText(result)));
      }
    }
  });
  EXPECT_EQ(stream.accounts().late, 0);
  return finals;
}

TEST(IdentitiesTest, SessionsDoNotDependOnTheOrderOfOnTimeEvents) {
  ForEachSeed(60, [](uint64_t seed) {
    Random random(seed);
    const SessionInput input = MakeSessionInput(&random);
    const std::set<std::string> first = FinalSessions(input, &random);
    EXPECT_FALSE(first.empty());
    EXPECT_EQ(first, FinalSessions(input, &random));
    EXPECT_EQ(first, FinalSessions(input, &random));
  });
}

// A batch's digest tells content, and nothing of how columns are laid out.
TEST(IdentitiesTest, DigestGoesByContent) {
  ForEachSeed(60, [](uint64_t seed) {
    const Script script = Generate(seed);
    for (const Step& step : script.steps) {
      const auto* batch = std::get_if<BatchStep>(&step);
      if (batch == nullptr || batch->events.empty()) continue;
      const uint64_t digest =
          DigestOf(MakeEvents(script.spec, batch->events, batch->layout));
      EXPECT_EQ(digest, DigestOf(MakeEvents(script.spec, batch->events,
                                            batch->layout + 1)));
      std::vector<ScriptEvent> other = batch->events;
      if (other.back().bad.has_value()) continue;
      other.back().time ^= 1;
      EXPECT_NE(digest, DigestOf(MakeEvents(script.spec, other, 0)));
      other = batch->events;
      other.pop_back();
      EXPECT_NE(digest, DigestOf(MakeEvents(script.spec, other, 0)));
      for (size_t f = 0; f < script.spec.fields.size(); ++f) {
        other = batch->events;
        if (other.back().values[f].index() == 0) continue;
        other.back().values[f] = std::monostate();
        EXPECT_NE(digest, DigestOf(MakeEvents(script.spec, other, 0)));
      }
    }
  });
}

}  // namespace
}  // namespace casement::model
