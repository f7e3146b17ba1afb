#include "client/tool/definitions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "client/tool/durations.h"

namespace casement::tool {
namespace {

using ::testing::HasSubstr;

int64_t Micros(const google::protobuf::Duration& duration) {
  return duration.seconds() * 1'000'000 + duration.nanos() / 1000;
}

TEST(DurationsTest, ReadsNumbersWithUnits) {
  EXPECT_EQ(Micros(*ParseDuration("1d")), 86'400'000'000);
  EXPECT_EQ(Micros(*ParseDuration("1w2d")), 9 * 86'400'000'000);
  EXPECT_EQ(Micros(*ParseDuration("90m")), 5'400'000'000);
  EXPECT_EQ(Micros(*ParseDuration("1h30m15s")), 5'415'000'000);
  EXPECT_EQ(Micros(*ParseDuration("250ms")), 250'000);
  EXPECT_EQ(Micros(*ParseDuration("1us")), 1);
  EXPECT_EQ(Micros(*ParseDuration("0")), 0);
  EXPECT_EQ(Micros(*ParseDuration("-1500ms")), -1'500'000);
}

TEST(DurationsTest, RefusesWhatIsNone) {
  for (const char* bad : {"", "-", "5", "m", "1.5h", "1 h", "1x", "h1", "1h2",
                          "99999999999999999999s", "300000000w"}) {
    EXPECT_FALSE(ParseDuration(bad).ok()) << bad;
  }
}

TEST(DurationsTest, WritesWhatItReads) {
  for (const char* text : {"1d", "9d", "1h30m", "250ms", "1us", "-1s500ms",
                           "0s", "1d6h", "1s1ms1us"}) {
    EXPECT_EQ(FormatDuration(*ParseDuration(text)), text);
  }
}

TEST(DefinitionsTest, Fields) {
  const auto field = ParseField("origin:string:required");
  ASSERT_TRUE(field.ok());
  EXPECT_EQ(field->name(), "origin");
  EXPECT_EQ(field->type(), v1::FIELD_TYPE_STRING);
  EXPECT_TRUE(field->required());
  EXPECT_EQ(ParseField("delay:int64")->type(), v1::FIELD_TYPE_INT64);
  EXPECT_FALSE(ParseField("delay:int64")->required());
  for (const char* bad : {"", "a", ":int64", "a:int", "a:unspecified",
                          "a:int64:must", "a:int64:required:x"}) {
    EXPECT_FALSE(ParseField(bad).ok()) << bad;
  }
}

TEST(DefinitionsTest, Windows) {
  const auto tumbling = ParseWindow("tumbling:1d+6h");
  ASSERT_TRUE(tumbling.ok());
  EXPECT_EQ(Micros(tumbling->tumbling().size()), 86'400'000'000);
  EXPECT_EQ(Micros(tumbling->tumbling().offset()), 21'600'000'000);
  EXPECT_EQ(Micros(ParseWindow("tumbling:1d-6h")->tumbling().offset()),
            -21'600'000'000);
  EXPECT_FALSE(ParseWindow("tumbling:1d")->tumbling().has_offset());
  const auto sliding = ParseWindow("sliding:1h/15m+5m");
  ASSERT_TRUE(sliding.ok());
  EXPECT_EQ(Micros(sliding->sliding().size()), 3'600'000'000);
  EXPECT_EQ(Micros(sliding->sliding().period()), 900'000'000);
  EXPECT_EQ(Micros(sliding->sliding().offset()), 300'000'000);
  const auto session = ParseWindow("session:30m/1d");
  ASSERT_TRUE(session.ok());
  EXPECT_EQ(Micros(session->session().gap()), 1'800'000'000);
  EXPECT_EQ(Micros(session->session().boundary_period()), 86'400'000'000);
  for (const char* bad : {"", "tumbling", "tumbling:", "tumbling:x",
                          "sliding:1h", "sliding:1h/2h/3h", "count:100"}) {
    EXPECT_FALSE(ParseWindow(bad).ok()) << bad;
  }
}

TEST(DefinitionsTest, Aggregates) {
  EXPECT_EQ(ParseAggregate("count")->alias(), "count");
  EXPECT_EQ(ParseAggregate("count")->function(),
            v1::AggregateSpec::FUNCTION_COUNT);
  const auto sum = ParseAggregate("sum:delay_min");
  ASSERT_TRUE(sum.ok());
  EXPECT_EQ(sum->alias(), "sum_delay_min");
  EXPECT_EQ(sum->field(), "delay_min");
  EXPECT_EQ(ParseAggregate("distinct_count:origin=origins")->alias(),
            "origins");
  EXPECT_FALSE(ParseAggregate("total:x").ok());
  EXPECT_FALSE(ParseAggregate("unspecified").ok());
}

TEST(DefinitionsTest, AStreamFromFlags) {
  StreamCreateOptions options;
  options.fields = {"a:string", "b:int64"};
  options.delay = "60m";
  options.combine = "greatest";
  options.required_producers = {"p", "q"};
  options.future = "reject";
  options.advance = "batch";
  options.invalid = "reject_batch";
  options.max_future_skew = "1h";
  const auto stream = StreamDefinition(options);
  ASSERT_TRUE(stream.ok()) << stream.status();
  const v1::WatermarkPolicy& policy = stream->watermark_policy();
  EXPECT_EQ(Micros(policy.bounded_delay().max_delay()), 3'600'000'000);
  EXPECT_EQ(policy.combine(), v1::WatermarkPolicy::COMBINE_GREATEST);
  EXPECT_EQ(policy.required_producers_size(), 2);
  EXPECT_EQ(policy.future_action(), v1::WatermarkPolicy::FUTURE_ACTION_REJECT);
  EXPECT_EQ(policy.advance(), v1::WatermarkPolicy::ADVANCE_AFTER_EACH_BATCH);
  EXPECT_EQ(policy.max_future_skew().seconds(), 3600);
  EXPECT_EQ(stream->invalid_event_policy(),
            v1::INVALID_EVENT_POLICY_REJECT_BATCH);
}

TEST(DefinitionsTest, WhatIsNotSaidStaysUnset) {
  StreamCreateOptions options;
  options.delay = "0";
  const auto stream = StreamDefinition(options);
  ASSERT_TRUE(stream.ok());
  v1::Stream expected;
  expected.mutable_watermark_policy()
      ->mutable_bounded_delay()
      ->mutable_max_delay();
  EXPECT_EQ(stream->SerializeAsString(), expected.SerializeAsString());
}

TEST(DefinitionsTest, AStreamNeedsASenseOfTime) {
  EXPECT_FALSE(StreamDefinition(StreamCreateOptions()).ok());
  StreamCreateOptions both;
  both.delay = "1m";
  both.asserted = true;
  EXPECT_FALSE(StreamDefinition(both).ok());
}

TEST(DefinitionsTest, AViewFromFlags) {
  ViewCreateOptions options;
  options.window = "session:30m";
  options.gap_rule = "exclusive";
  options.group_by = {"a", "b"};
  options.aggregates = {"count", "max:c"};
  options.lateness = "10m";
  options.late_rule = "behind_watermark";
  options.session_late_check = "own";
  options.early = "every_batch";
  options.no_on_time = true;
  options.late = "none";
  const auto view = ViewDefinition(options);
  ASSERT_TRUE(view.ok()) << view.status();
  const v1::ViewSpec& spec = view->spec();
  EXPECT_EQ(spec.window().session().gap_rule(),
            v1::WindowSpec::Session::GAP_RULE_EXCLUSIVE);
  EXPECT_EQ(spec.group_by_size(), 2);
  EXPECT_EQ(spec.aggregates_size(), 2);
  EXPECT_EQ(spec.allowed_lateness().seconds(), 600);
  EXPECT_EQ(spec.late_rule(), v1::ViewSpec::LATE_RULE_BEHIND_WATERMARK);
  EXPECT_EQ(spec.session_late_check(), v1::ViewSpec::SESSION_LATE_CHECK_OWN);
  EXPECT_TRUE(spec.trigger().early().every_batch());
  EXPECT_TRUE(spec.trigger().no_on_time());
  EXPECT_TRUE(spec.trigger().late().none());
}

TEST(DefinitionsTest, AViewNeedsWindowAndAggregate) {
  ViewCreateOptions options;
  options.aggregates = {"count"};
  EXPECT_FALSE(ViewDefinition(options).ok());
  options.window = "tumbling:1d";
  EXPECT_TRUE(ViewDefinition(options).ok());
  options.gap_rule = "exclusive";
  EXPECT_FALSE(ViewDefinition(options).ok());
  options.gap_rule.clear();
  options.aggregates.clear();
  EXPECT_FALSE(ViewDefinition(options).ok());
}

class DefinitionFileTest : public ::testing::Test {
 protected:
  DefinitionFileTest() : dir_(::testing::TempDir() + "casement_def_XXXXXX") {
    EXPECT_NE(mkdtemp(dir_.data()), nullptr);
  }
  ~DefinitionFileTest() override { std::filesystem::remove_all(dir_); }

  std::string File(const std::string& name, const std::string& content) {
    const std::string path = dir_ + "/" + name;
    std::ofstream(path) << content;
    return path;
  }

  std::string dir_;
};

TEST_F(DefinitionFileTest, TextProtoAndJsonSayTheSame) {
  const std::string text = File("s.txtpb", R"pb(
    fields { name: "a" type: FIELD_TYPE_INT64 required: true }
    watermark_policy { bounded_delay { max_delay { seconds: 60 } } }
  )pb");
  const std::string json = File("s.json", R"({
    "fields": [{"name": "a", "type": "FIELD_TYPE_INT64", "required": true}],
    "watermark_policy": {"bounded_delay": {"max_delay": "60s"}}
  })");
  StreamCreateOptions options;
  options.file = text;
  const auto from_text = StreamDefinition(options);
  options.file = json;
  const auto from_json = StreamDefinition(options);
  ASSERT_TRUE(from_text.ok()) << from_text.status();
  ASSERT_TRUE(from_json.ok()) << from_json.status();
  EXPECT_EQ(from_text->SerializeAsString(), from_json->SerializeAsString());
  EXPECT_TRUE(from_text->fields(0).required());
}

TEST_F(DefinitionFileTest, FlagsGoOnTop) {
  StreamCreateOptions options;
  options.file = File("top.txtpb", R"pb(
    fields { name: "a" type: FIELD_TYPE_INT64 }
    watermark_policy { bounded_delay { max_delay { seconds: 60 } } }
  )pb");
  options.fields = {"b:string"};
  options.delay = "5m";
  const auto stream = StreamDefinition(options);
  ASSERT_TRUE(stream.ok());
  EXPECT_EQ(stream->fields_size(), 2);
  EXPECT_EQ(stream->watermark_policy().bounded_delay().max_delay().seconds(),
            300);
}

TEST_F(DefinitionFileTest, ErrorsNameThePlace) {
  v1::Stream stream;
  absl::Status status =
      ReadDefinition(File("bad.txtpb", "fields {\n  nme: \"a\"\n}"), &stream);
  EXPECT_THAT(std::string(status.message()), HasSubstr("bad.txtpb:2:"));
  status = ReadDefinition(File("bad.json", "{\"nme\": 1}"), &stream);
  EXPECT_THAT(std::string(status.message()), HasSubstr("nme"));
  status = ReadDefinition("/nowhere/x.txtpb", &stream);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/nowhere/x.txtpb"));
}

}  // namespace
}  // namespace casement::tool
