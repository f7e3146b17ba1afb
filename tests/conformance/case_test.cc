#include "tests/conformance/case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace casement::conformance {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kSmall[] = R"({
  "name": "small", "kind": "run", "needs": ["window_closed"],
  "pipeline": {
    "window": {"kind": "fixed", "size": "PT10M"},
    "keyed": true,
    "fields": {"x": "int64", "y": "double"},
    "aggregates": [{"fn": "count"}, {"fn": "sum", "field": "x"},
                   {"fn": "avg", "field": "y", "as": "mean"}],
    "watermark": {"delay": "PT1M"},
    "lateness": {"rule": "window_closed", "allowed": "PT5M"}
  },
  "steps": [
    {"op": "ingest", "producer": "p", "seq": 7,
     "events": [{"id": "a", "time": "1970-01-01T00:01:00Z", "key": "k",
                 "fields": {"x": "9007199254740993", "y": 5}}],
     "expect": {
       "finals": [{"key": null, "start": "0", "end": "600000000",
                   "agg": {"count": 1, "sum_x": {"overflow":
                   "9223372036854775808"}, "mean": "-Infinity"}}],
       "watermark": null}}
  ],
  "end": {"open": [], "watermark": "+inf", "accepted": 1, "late": 0}
})";

std::string Without(const std::string& text, const std::string& part,
                    const std::string& instead = "") {
  EXPECT_THAT(text, HasSubstr(part));
  return absl::StrReplaceAll(text, {{part, instead}});
}

TEST(CaseTest, ReadsWhatACaseSays) {
  absl::StatusOr<Case> c = ParseCase(kSmall, "file");
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_EQ(c->name, "small");
  EXPECT_THAT(c->needs, ElementsAre("window_closed"));
  EXPECT_EQ(c->pipeline.delay.value, 60'000'000);
  EXPECT_EQ(c->pipeline.advance, "per_event");
  EXPECT_FALSE(c->pipeline.sources.has_value());
  EXPECT_THAT(c->pipeline.aggregates,
              ElementsAre(testing::Field(&Aggregate::name, "count"),
                          testing::Field(&Aggregate::name, "sum_x"),
                          testing::Field(&Aggregate::name, "mean")));
  ASSERT_EQ(c->steps.size(), 1u);
  const Step& step = c->steps[0];
  EXPECT_EQ(step.seq, "7");
  EXPECT_EQ(step.events[0].time, Micros(60'000'000));
  ASSERT_EQ(step.expect.finals.size(), 1u);
  const WindowRow& row = step.expect.finals[0];
  EXPECT_FALSE(row.key.has_value());
  EXPECT_EQ(row.end, Micros(600'000'000));
  ASSERT_EQ(row.values.size(), 3u);
  EXPECT_EQ(row.values[0].int64_value, 1);
  EXPECT_EQ(row.values[1].kind, AggValue::Kind::kDecimal);
  EXPECT_EQ(row.values[1].text, "9223372036854775808");
  EXPECT_LT(row.values[2].double_value, 0);
  // Told, and told that there is none yet.
  ASSERT_TRUE(step.expect.watermark.has_value());
  EXPECT_FALSE(step.expect.watermark->has_value());
  EXPECT_EQ(c->end.watermark, Watermark(kPlusInfinity));
  EXPECT_EQ(c->end.accepted, 1);
}

TEST(CaseTest, TakesItsNameFromTheFileIfItSaysNone) {
  absl::StatusOr<Case> c =
      ParseCase(Without(kSmall, "\"name\": \"small\","), "file");
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_EQ(c->name, "file");
}

TEST(CaseTest, AnAbsentWatermarkIsNotCompared) {
  absl::StatusOr<Case> c =
      ParseCase(Without(kSmall, ",\n       \"watermark\": null"), "file");
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_FALSE(c->steps[0].expect.watermark.has_value());
}

TEST(CaseTest, RefusesWhatItDoesNotKnow) {
  struct {
    const char* part;
    const char* instead;
    const char* problem;
  } const kBroken[] = {
      {"\"fixed\"", "\"random\"", "pipeline.window.kind"},
      {"\"PT10M\"", "\"ten minutes\"", "pipeline.window.size"},
      {"\"delay\"", "\"delays\"", "pipeline.watermark.delays"},
      {"\"ingest\"", "\"swallow\"", "steps[0].op"},
      {"\"finals\"", "\"endings\"", "steps[0].expect.endings"},
      {"\"sum_x\": {", "\"sum_z\": {", "steps[0].expect.finals.agg.sum_x"},
      {"\"1970-01-01T00:01:00Z\"", "\"noon\"", "steps[0].events.time"},
      {"\"count\": 1", "\"count\": 1.5", "agg.count"},
      {"\"key\": null, ", "", "steps[0].expect.finals.key"},
      {"\"end\": {\"open\"", "\"ends\": {\"open\"", "end is missing"},
      {"\"kind\": \"run\"", "\"kind\": \"walk\"", "kind"},
      {"{\n  \"name\"", "\n  \"name\"", "not JSON"},
  };
  for (const auto& broken : kBroken) {
    absl::StatusOr<Case> c =
        ParseCase(Without(kSmall, broken.part, broken.instead), "file");
    ASSERT_FALSE(c.ok()) << broken.instead;
    EXPECT_THAT(std::string(c.status().message()), HasSubstr(broken.problem));
  }
}

TEST(CaseTest, SpecsMayHoldWordsThatMeanNothing) {
  absl::StatusOr<Case> c = ParseCase(R"({
    "kind": "spec",
    "specs": [
      {"label": "no such window", "expect": "invalid",
       "pipeline": {"window": {"kind": "random", "size": "soon"}}},
      {"label": "good", "expect": "valid",
       "pipeline": {"window": {"kind": "fixed", "size": "1"},
                    "aggregates": [{"fn": "count"}]}}
    ]})",
                                     "specs");
  ASSERT_TRUE(c.ok()) << c.status();
  ASSERT_EQ(c->specs.size(), 2u);
  EXPECT_FALSE(c->specs[0].valid);
  EXPECT_FALSE(c->specs[0].pipeline.window.size.readable);
  EXPECT_FALSE(c->specs[0].pipeline.window.slide.given);
  EXPECT_TRUE(c->specs[1].valid);
}

TEST(CaseTest, ReadsAllCasesOfTheProject) {
  int count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(CASEMENT_CASES_DIR)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    absl::StatusOr<Case> c = ParseCase(text, "");
    EXPECT_TRUE(c.ok()) << entry.path() << ": " << c.status();
    if (c.ok()) {
      EXPECT_EQ(c->name, entry.path().stem().string());
    }
    ++count;
  }
  EXPECT_GE(count, 95);
}

}  // namespace
}  // namespace casement::conformance
