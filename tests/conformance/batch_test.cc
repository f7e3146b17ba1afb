#include "tests/conformance/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace casement::conformance {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The events and the pipeline of a case with one step.
struct Parsed {
  explicit Parsed(const std::string& events) {
    absl::StatusOr<Case> parsed = ParseCase(absl::StrCat(R"({
      "kind": "run",
      "pipeline": {"window": {"kind": "fixed", "size": "1"}, "keyed": true,
                   "fields": {"x": "int64", "y": "double", "S!": "string"},
                   "aggregates": [{"fn": "count"}]},
      "steps": [{"op": "ingest", "events": )",
                                                         events, R"(}],
      "end": {}})"),
                                            "batch");
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    c = *std::move(parsed);
    for (const Event& event : c.steps[0].events) pointers.push_back(&event);
  }

  std::optional<v1::ColumnBatch> Columns() const {
    return MakeColumns(pointers, c.pipeline, ApiNames(c.pipeline));
  }
  v1::RowBatch Rows() const {
    return MakeRows(pointers, c.pipeline, ApiNames(c.pipeline));
  }

  Case c;
  std::vector<const Event*> pointers;
};

TEST(BatchTest, ColumnsSayWhatRowsSay) {
  const Parsed parsed(R"([
      {"id": "a", "time": "-5", "key": "k", "fields": {"x": 1, "S!": "s"}},
      {"id": "b", "key": "", "fields": {"x": null}},
      {"id": "c", "time": "10", "fields": {"x": 3}}])");
  std::optional<v1::ColumnBatch> columns = parsed.Columns();
  ASSERT_TRUE(columns.has_value());
  EXPECT_EQ(columns->row_count(), 3);
  EXPECT_EQ(columns->base_time_us(), -5);
  EXPECT_THAT(columns->event_time_deltas_us(), ElementsAre(0, 0, 15));
  EXPECT_EQ(columns->time_nulls(), "\x02");
  EXPECT_THAT(columns->symbols(), ElementsAre("", "k", "s"));
  // y has no value anywhere, so no column.
  ASSERT_EQ(columns->columns_size(), 3);
  const v1::Column& key = columns->columns(0);
  EXPECT_EQ(key.field(), "key");
  EXPECT_THAT(key.symbols().indices(), ElementsAre(1, 0, 0));
  EXPECT_EQ(key.nulls(), "\x04");
  const v1::Column& strings = columns->columns(1);
  EXPECT_EQ(strings.field(), "field");
  EXPECT_THAT(strings.symbols().indices(), ElementsAre(2, 0, 0));
  const v1::Column& x = columns->columns(2);
  EXPECT_THAT(x.int64s().values(), ElementsAre(1, 0, 3));
  EXPECT_EQ(x.nulls(), "\x02");

  const v1::RowBatch rows = parsed.Rows();
  ASSERT_EQ(rows.events_size(), 3);
  EXPECT_EQ(FromTimestamp(rows.events(0).event_time()), -5);
  EXPECT_EQ(rows.events(0).fields().at("field").string_value(), "s");
  EXPECT_FALSE(rows.events(1).has_event_time());
  // The empty key is a key; a null is said as one; what is left out stays out.
  EXPECT_TRUE(rows.events(1).fields().at("key").has_string_value());
  EXPECT_EQ(rows.events(1).fields().at("x").kind_case(),
            v1::Value::KIND_NOT_SET);
  EXPECT_EQ(rows.events(2).fields().count("key"), 0u);
  EXPECT_THAT(rows.events(0).event_id(), IsEmpty());
}

TEST(BatchTest, NoNullsNoBits) {
  const Parsed parsed(R"([{"id": "a", "time": "1", "key": "k"}])");
  std::optional<v1::ColumnBatch> columns = parsed.Columns();
  ASSERT_TRUE(columns.has_value());
  EXPECT_THAT(columns->time_nulls(), IsEmpty());
  EXPECT_THAT(columns->columns(0).nulls(), IsEmpty());
}

TEST(BatchTest, ColumnsCanNotExpressEverything) {
  for (const char* events :
       {R"([{"id": "a", "time": "1", "fields": {"x": 1.5}}])",
        R"([{"id": "a", "time": "1", "fields": {"x": "9223372036854775808"}}])",
        R"([{"id": "a", "time": "1", "fields": {"no_such_field": 1}}])",
        R"([{"id": "a", "time": "1", "key": 7}])",
        R"([{"id": "a", "time": "-9223372036854775808"},
            {"id": "b", "time": "9223372036854775807"}])",
        R"([{"id": "a", "time": "9223372036854775808"}])"}) {
    EXPECT_FALSE(Parsed(events).Columns().has_value()) << events;
    EXPECT_GE(Parsed(events).Rows().events_size(), 1);
  }
}

TEST(BatchTest, TheKeyHasANameOfItsOwn) {
  Pipeline pipeline;
  pipeline.fields = {{"key", "int64"}, {"Field", "int64"}, {"field", "int64"}};
  const ApiNames names(pipeline);
  EXPECT_EQ(names.key(), "key_2");
  EXPECT_EQ(names.OfField("key"), "key");
  EXPECT_EQ(names.OfField("field"), "field");
  EXPECT_EQ(names.OfField("Field"), "field_2");
  EXPECT_EQ(names.OfField("nope"), "nope");
}

TEST(BatchTest, AggregatesOfOneNameKeepOneName) {
  Pipeline pipeline;
  pipeline.aggregates = {{"count", std::nullopt, "N"},
                         {"count", std::nullopt, "N"},
                         {"count", std::nullopt, "my count"},
                         {"count", std::nullopt, "value"}};
  const ApiNames names(pipeline);
  EXPECT_EQ(names.OfAggregate("value"), "value");
  EXPECT_EQ(names.OfAggregate("N"), "value_2");
  EXPECT_EQ(names.OfAggregate("my count"), "value_3");
}

}  // namespace
}  // namespace casement::conformance
