#include "server/rpc/stream_conversion.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/rpc/status_test_util.h"

namespace casement::rpc {
namespace {

using ::google::protobuf::TextFormat;
using ::testing::ElementsAre;
using v1::CreateStreamRequest;

CreateStreamRequest Sound() {
  CreateStreamRequest request;
  EXPECT_TRUE(TextFormat::ParseFromString(
      R"pb(
        stream_id: "clicks"
        stream {
          display_name: "Clicks"
          labels { key: "team" value: "web" }
          fields { name: "user" type: FIELD_TYPE_STRING required: true }
          fields { name: "amount" type: FIELD_TYPE_INT64 }
          fields { name: "weight" type: FIELD_TYPE_DOUBLE }
          fields { name: "paid" type: FIELD_TYPE_BOOL }
          fields { name: "raw" type: FIELD_TYPE_BYTES }
          watermark_policy { bounded_delay { max_delay { seconds: 60 } } }
        })pb",
      &request));
  return request;
}

struct Case {
  std::string change;  // text to merge into the sound request
  std::string field;   // that the error names
};

CreateStreamRequest Changed(const std::string& change) {
  CreateStreamRequest request = Sound();
  EXPECT_TRUE(TextFormat::MergeFromString(change, &request)) << change;
  return request;
}

TEST(StreamConversionTest, DefaultsAreSpelledOut) {
  const auto definition = ToStreamDefinition(Sound());
  ASSERT_TRUE(definition.ok()) << definition.status();
  runtime::StreamInfo info;
  info.definition = *definition;
  info.definition.create_time = 5'000'000;
  info.progress.version = 3;
  v1::Stream stream;
  SetStream(info, &stream);
  v1::Stream expected;
  ASSERT_TRUE(TextFormat::ParseFromString(
      R"pb(
        name: "streams/clicks"
        display_name: "Clicks"
        labels { key: "team" value: "web" }
        fields { name: "user" type: FIELD_TYPE_STRING required: true }
        fields { name: "amount" type: FIELD_TYPE_INT64 }
        fields { name: "weight" type: FIELD_TYPE_DOUBLE }
        fields { name: "paid" type: FIELD_TYPE_BOOL }
        fields { name: "raw" type: FIELD_TYPE_BYTES }
        watermark_policy {
          bounded_delay { max_delay { seconds: 60 } }
          idle_behavior: IDLE_BEHAVIOR_HOLD
          max_future_skew { seconds: 300 }
          future_action: FUTURE_ACTION_HOLD
          advance: ADVANCE_AFTER_EACH_EVENT
          scope: SCOPE_STREAM
          combine: COMBINE_LEAST_OVER_PRODUCERS
        }
        raw_retention {}
        invalid_event_policy: INVALID_EVENT_POLICY_REJECT_EVENT
        progress { version: 3 }
        create_time { seconds: 5 })pb",
      &expected));
  EXPECT_TRUE(
      google::protobuf::util::MessageDifferencer::Equals(stream, expected))
      << stream.DebugString();
}

TEST(StreamConversionTest, WhatIsSetComesBack) {
  const CreateStreamRequest request = Changed(R"pb(
    stream {
      watermark_policy {
        asserted {}
        idle_behavior: IDLE_BEHAVIOR_HOLD
        max_future_skew { nanos: 1000 }
        future_action: FUTURE_ACTION_REJECT
        advance: ADVANCE_AFTER_EACH_BATCH
        scope: SCOPE_STREAM
        combine: COMBINE_LEAST_OVER_PRODUCERS
        required_producers: "a"
        required_producers: "b"
      }
      raw_retention {}
      invalid_event_policy: INVALID_EVENT_POLICY_REJECT_BATCH
    })pb");
  const auto definition = ToStreamDefinition(request);
  ASSERT_TRUE(definition.ok()) << definition.status();
  v1::Stream stream;
  runtime::StreamInfo info;
  info.definition = *definition;
  SetStream(info, &stream);
  stream.clear_name();
  stream.clear_progress();
  stream.clear_create_time();
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(
      stream, request.stream()))
      << stream.DebugString();
}

TEST(StreamConversionTest, EveryInvalidFieldIsNamed) {
  const std::string policy = "stream.watermark_policy";
  const std::vector<Case> cases = {
      {"stream_id: ''", "stream_id"},
      {"stream_id: 'Clicks'", "stream_id"},
      {"stream_id: '1a'", "stream_id"},
      {"stream_id: 'a-'", "stream_id"},
      {"stream_id: 'a/b'", "stream_id"},
      {"stream_id: '" + std::string(64, 'a') + "'", "stream_id"},
      {"stream { display_name: '" + std::string(257, 'x') + "' }",
       "stream.display_name"},
      {"stream { labels { key: '' value: 'x' } }", "stream.labels[\"\"]"},
      {"stream { labels { key: 'k' value: '" + std::string(257, 'x') + "' } }",
       "stream.labels[\"k\"]"},
      {"stream { fields { name: 'Bad' type: FIELD_TYPE_BOOL } }",
       "stream.fields[5].name"},
      {"stream { fields { name: 'user' type: FIELD_TYPE_BOOL } }",
       "stream.fields[5].name"},
      {"stream { fields { name: '' type: FIELD_TYPE_BOOL } }",
       "stream.fields[5].name"},
      {"stream { fields { name: 'x' } }", "stream.fields[5].type"},
      {"stream { fields { name: 'x' type: 77 } }", "stream.fields[5].type"},
      {"stream { watermark_policy { bounded_delay { max_delay { seconds: -61 "
       "} } } }",
       policy + ".bounded_delay.max_delay"},
      {"stream { watermark_policy { bounded_delay { max_delay { nanos: 1 } } "
       "} }",
       policy + ".bounded_delay.max_delay"},
      {"stream { watermark_policy { bounded_delay { max_delay { nanos: -5000 } "
       "} } }",
       policy + ".bounded_delay.max_delay"},
      {"stream { watermark_policy { bounded_delay { max_delay { seconds: "
       "315576000001 } } } }",
       policy + ".bounded_delay.max_delay"},
      {"stream { watermark_policy { idle_timeout {} } }",
       policy + ".idle_timeout"},
      {"stream { watermark_policy { idle_timeout { seconds: -1 } } }",
       policy + ".idle_timeout"},
      {"stream { watermark_policy { idle_behavior: 9 } }",
       policy + ".idle_behavior"},
      {"stream { watermark_policy { max_future_skew { seconds: -1 } } }",
       policy + ".max_future_skew"},
      {"stream { watermark_policy { max_future_skew { nanos: 999 } } }",
       policy + ".max_future_skew"},
      {"stream { watermark_policy { future_action: 9 } }",
       policy + ".future_action"},
      {"stream { watermark_policy { advance: 9 } }", policy + ".advance"},
      {"stream { watermark_policy { scope: 9 } }", policy + ".scope"},
      {"stream { watermark_policy { combine: 9 } }", policy + ".combine"},
      {"stream { watermark_policy { required_producers: 'NO' } }",
       policy + ".required_producers[0]"},
      {"stream { watermark_policy { required_producers: ['a', 'a'] } }",
       policy + ".required_producers[1]"},
      {"stream { watermark_policy { required_producers: 'a' combine: "
       "COMBINE_GREATEST } }",
       policy + ".required_producers"},
      {"stream { raw_retention { seconds: -1 } }", "stream.raw_retention"},
      {"stream { raw_retention { nanos: 1 } }", "stream.raw_retention"},
      {"stream { producer_retention {} }", "stream.producer_retention"},
      {"stream { event_deduplication {} }",
       "stream.event_deduplication.horizon"},
      {"stream { event_deduplication { horizon {} } }",
       "stream.event_deduplication.horizon"},
      {"stream { invalid_event_policy: 9 }", "stream.invalid_event_policy"},
  };
  for (const Case& c : cases) {
    const absl::Status status = ToStreamDefinition(Changed(c.change)).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << c.change << status;
    EXPECT_EQ(ReasonOf(status), "INVALID_FIELD") << c.change;
    EXPECT_THAT(FieldsOf(status), ElementsAre(c.field)) << c.change;
  }
}

TEST(StreamConversionTest, WhatIsRequiredIsMissed) {
  CreateStreamRequest request = Sound();
  request.clear_stream();
  EXPECT_THAT(FieldsOf(ToStreamDefinition(request).status()),
              ElementsAre("stream"));
  request = Sound();
  request.mutable_stream()->clear_watermark_policy();
  EXPECT_THAT(FieldsOf(ToStreamDefinition(request).status()),
              ElementsAre("stream.watermark_policy"));
  request = Sound();
  request.mutable_stream()->mutable_watermark_policy()->clear_source();
  EXPECT_THAT(FieldsOf(ToStreamDefinition(request).status()),
              ElementsAre("stream.watermark_policy.source"));
  request = Sound();
  request.mutable_stream()
      ->mutable_watermark_policy()
      ->mutable_bounded_delay()
      ->clear_max_delay();
  EXPECT_THAT(FieldsOf(ToStreamDefinition(request).status()),
              ElementsAre("stream.watermark_policy.bounded_delay.max_delay"));
}

TEST(StreamConversionTest, ManyOfAThingAreTooMany) {
  CreateStreamRequest request = Sound();
  for (int i = 0; i < 65; ++i) {
    (*request.mutable_stream()->mutable_labels())[std::to_string(i)] = "x";
  }
  EXPECT_THAT(FieldsOf(ToStreamDefinition(request).status()),
              ElementsAre("stream.labels"));
  request = Sound();
  for (int i = 0; i < 200; ++i) {
    v1::FieldSpec* field = request.mutable_stream()->add_fields();
    field->set_name("f" + std::to_string(i));
    field->set_type(v1::FIELD_TYPE_BOOL);
  }
  EXPECT_THAT(FieldsOf(ToStreamDefinition(request).status()),
              ElementsAre("stream.fields"));
}

TEST(StreamConversionTest, WhatIsNotBuiltIsRefusedNotIgnored) {
  const std::string policy = "stream.watermark_policy";
  const std::vector<Case> cases = {
      {"stream { watermark_policy { arrival {} } }", policy + ".arrival"},
      {"stream { watermark_policy { idle_timeout { seconds: 5 } } }",
       policy + ".idle_timeout"},
      {"stream { watermark_policy { idle_behavior: IDLE_BEHAVIOR_FOLLOW_CLOCK "
       "} }",
       policy + ".idle_behavior"},
      {"stream { watermark_policy { scope: SCOPE_KEY } }", policy + ".scope"},
      {"stream { raw_retention { seconds: 5 } }", "stream.raw_retention"},
      {"stream { producer_retention { seconds: 5 } }",
       "stream.producer_retention"},
      {"stream { event_deduplication { horizon { seconds: 5 } } }",
       "stream.event_deduplication"},
  };
  for (const Case& c : cases) {
    const absl::Status status = ToStreamDefinition(Changed(c.change)).status();
    EXPECT_TRUE(absl::IsUnimplemented(status)) << c.change << status;
    EXPECT_EQ(ReasonOf(status), "NOT_BUILT") << c.change;
    EXPECT_EQ(MetadataOf(status, "field"), c.field) << c.change;
    // A mistake elsewhere outweighs it.
    CreateStreamRequest wrong = Changed(c.change);
    wrong.set_stream_id("NO");
    EXPECT_THAT(FieldsOf(ToStreamDefinition(wrong).status()),
                ElementsAre("stream_id"));
  }
}

}  // namespace
}  // namespace casement::rpc
