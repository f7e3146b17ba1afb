#include "server/rpc/view_conversion.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/rpc/status_test_util.h"

namespace casement::rpc {
namespace {

using ::google::protobuf::TextFormat;
using ::google::protobuf::util::MessageDifferencer;
using ::testing::ElementsAre;
using v1::CreateViewRequest;

const engine::StreamSpec& Stream() {
  static const auto* spec = [] {
    auto* made = new engine::StreamSpec;
    made->fields = {{"user", engine::FieldType::kString, false},
                    {"amount", engine::FieldType::kInt64, false},
                    {"weight", engine::FieldType::kDouble, false},
                    {"paid", engine::FieldType::kBool, false},
                    {"raw", engine::FieldType::kBytes, false}};
    return made;
  }();
  return *spec;
}

CreateViewRequest Sound() {
  CreateViewRequest request;
  EXPECT_TRUE(TextFormat::ParseFromString(
      R"pb(
        parent: "streams/clicks"
        view_id: "hourly"
        view {
          spec {
            window { tumbling { size { seconds: 3600 } } }
            group_by: "user"
            aggregates { alias: "n" function: FUNCTION_COUNT }
          }
        })pb",
      &request));
  return request;
}

CreateViewRequest Changed(const std::string& change) {
  CreateViewRequest request = Sound();
  EXPECT_TRUE(TextFormat::MergeFromString(change, &request)) << change;
  return request;
}

// `change` to the spec.
std::string Spec(const std::string& change) {
  return "view { spec { " + change + " } }";
}
std::string Window(const std::string& change) {
  return Spec("window { " + change + " }");
}
// A second aggregate.
std::string Aggregate(const std::string& change) {
  return Spec("aggregates { alias: 'second' " + change + " }");
}

absl::Status Convert(const CreateViewRequest& request) {
  return ToViewDefinition(request, Stream()).status();
}

struct Case {
  std::string change;
  std::string field;
};

void ExpectInvalid(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    const absl::Status status = Convert(Changed(c.change));
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << c.change << status;
    EXPECT_EQ(ReasonOf(status), "INVALID_FIELD") << c.change;
    EXPECT_THAT(FieldsOf(status), ElementsAre(c.field)) << c.change;
  }
}

void ExpectNotBuilt(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    const absl::Status status = Convert(Changed(c.change));
    EXPECT_TRUE(absl::IsUnimplemented(status)) << c.change << status;
    EXPECT_EQ(ReasonOf(status), "NOT_BUILT") << c.change;
    EXPECT_EQ(MetadataOf(status, "field"), c.field) << c.change;
    // A mistake elsewhere outweighs it.
    CreateViewRequest wrong = Changed(c.change);
    wrong.mutable_view()->mutable_spec()->add_group_by("nope");
    EXPECT_THAT(FieldsOf(Convert(wrong)), ElementsAre("view.spec.group_by[1]"))
        << c.change;
  }
}

// What the view looks like from outside.
v1::ViewSpec Answer(const std::string& change) {
  const auto definition = ToViewDefinition(Changed(change), Stream());
  EXPECT_TRUE(definition.ok()) << change << definition.status();
  if (!definition.ok()) return {};
  runtime::ViewInfo info;
  info.definition = *definition;
  v1::View view;
  SetView("clicks", info, &view);
  return view.spec();
}

TEST(ViewConversionTest, DefaultsAreSpelledOut) {
  CreateViewRequest request = Sound();
  request.mutable_view()->set_display_name("Hourly");
  (*request.mutable_view()->mutable_labels())["a"] = "b";
  const auto definition = ToViewDefinition(request, Stream());
  ASSERT_TRUE(definition.ok()) << definition.status();
  runtime::ViewInfo info;
  info.definition = *definition;
  info.definition.create_time = 1'000'000;
  info.progress = {.watermark = 7'000'000, .version = 4};
  v1::View view;
  SetView("clicks", info, &view);
  v1::View expected;
  ASSERT_TRUE(TextFormat::ParseFromString(
      R"pb(
        name: "streams/clicks/views/hourly"
        display_name: "Hourly"
        labels { key: "a" value: "b" }
        spec {
          window {
            tumbling {
              size { seconds: 3600 }
              offset {}
            }
          }
          group_by: "user"
          aggregates { alias: "n" function: FUNCTION_COUNT }
          allowed_lateness {}
          late_rule: LATE_RULE_WINDOW_CLOSED
          session_late_check: SESSION_LATE_CHECK_MERGED
          trigger {
            early {}
            late {}
          }
          accumulation_mode: ACCUMULATION_MODE_ACCUMULATING
          late_event_policy: LATE_EVENT_POLICY_KEEP
        }
        active_revision: "1"
        progress {
          watermark_time { seconds: 7 }
          final_time { seconds: 7 }
          version: 4
        }
        create_time { seconds: 1 })pb",
      &expected));
  EXPECT_TRUE(MessageDifferencer::Equals(view, expected)) << view.DebugString();
}

TEST(ViewConversionTest, WhatIsSetComesBack) {
  const std::string spec = R"pb(
    window {
      sliding {
        size { seconds: 60 }
        period { seconds: 7 }
        offset { seconds: 3 }
      }
    }
    group_by: "user"
    group_by: "paid"
    aggregates { alias: "n" function: FUNCTION_COUNT }
    aggregates { alias: "c" function: FUNCTION_COUNT field: "user" }
    aggregates { alias: "s" function: FUNCTION_SUM field: "amount" }
    aggregates { alias: "lo" function: FUNCTION_MIN field: "raw" }
    aggregates { alias: "hi" function: FUNCTION_MAX field: "paid" }
    aggregates { alias: "m" function: FUNCTION_MEAN field: "weight" }
    aggregates { alias: "d" function: FUNCTION_DISTINCT_COUNT field: "user" }
    allowed_lateness { seconds: 5 }
    late_rule: LATE_RULE_BEHIND_WATERMARK
    session_late_check: SESSION_LATE_CHECK_OWN
    trigger {
      early { every_batch: true }
      no_on_time: true
      late { none: true }
    }
    accumulation_mode: ACCUMULATION_MODE_ACCUMULATING
    late_event_policy: LATE_EVENT_POLICY_COUNT)pb";
  v1::ViewSpec expected;
  ASSERT_TRUE(TextFormat::ParseFromString(spec, &expected));
  CreateViewRequest request = Sound();
  *request.mutable_view()->mutable_spec() = expected;
  const auto definition = ToViewDefinition(request, Stream());
  ASSERT_TRUE(definition.ok()) << definition.status();
  runtime::ViewInfo info;
  info.definition = *definition;
  v1::View view;
  SetView("clicks", info, &view);
  EXPECT_TRUE(MessageDifferencer::Equals(view.spec(), expected))
      << view.DebugString();
}

TEST(ViewConversionTest, OffsetsCountModuloThePeriod) {
  EXPECT_EQ(Answer(Window("tumbling { offset { seconds: -8100 } }"))
                .window()
                .tumbling()
                .offset()
                .seconds(),
            2700);
  EXPECT_EQ(Answer(Window("tumbling { offset { seconds: 7200 } }"))
                .window()
                .tumbling()
                .offset()
                .seconds(),
            0);
  EXPECT_EQ(Answer(Window("sliding { size { seconds: 60 } period { seconds: "
                          "10 } offset { seconds: -1 } }"))
                .window()
                .sliding()
                .offset()
                .seconds(),
            9);
}

TEST(ViewConversionTest, TheExclusiveGapRuleComesBack) {
  EXPECT_EQ(Answer(Window("session { gap { seconds: 5 } gap_rule: "
                          "GAP_RULE_EXCLUSIVE }"))
                .window()
                .session()
                .gap_rule(),
            v1::WindowSpec::Session::GAP_RULE_EXCLUSIVE);
  EXPECT_EQ(Answer(Window("session { gap { seconds: 5 } }"))
                .window()
                .session()
                .gap_rule(),
            v1::WindowSpec::Session::GAP_RULE_INCLUSIVE);
}

TEST(ViewConversionTest, InvalidWindows) {
  const std::string w = "view.spec.window.";
  ExpectInvalid({
      {Window("tumbling { size { seconds: 0 } }"), w + "tumbling.size"},
      {Window("tumbling { size { seconds: -3600 } }"), w + "tumbling.size"},
      {Window("tumbling { size { nanos: 500 } }"), w + "tumbling.size"},
      {Window("tumbling { size { seconds: 315576000001 } }"),
       w + "tumbling.size"},
      {Window("tumbling { offset { nanos: 1 } }"), w + "tumbling.offset"},
      {Window("sliding { period { seconds: 1 } }"), w + "sliding.size"},
      {Window("sliding { size { seconds: 1 } }"), w + "sliding.period"},
      {Window("sliding { size {} period { seconds: 1 } }"), w + "sliding.size"},
      {Window("sliding { size { seconds: 1 } period {} }"),
       w + "sliding.period"},
      {Window("sliding { size { seconds: 1 } period { seconds: -1 } }"),
       w + "sliding.period"},
      {Window("sliding { size { seconds: 10001 } period { seconds: 1 } }"),
       w + "sliding.period"},
      {Window("session {}"), w + "session.gap"},
      {Window("session { gap {} }"), w + "session.gap"},
      {Window("session { gap { seconds: -1 } }"), w + "session.gap"},
      {Window("session { gap { seconds: 1 } gap_rule: 7 }"),
       w + "session.gap_rule"},
      {Window("session { gap { seconds: 1 } boundary_period {} }"),
       w + "session.boundary_period"},
      {Window("session { gap { seconds: 1 } boundary_offset { seconds: 1 } }"),
       w + "session.boundary_offset"},
  });
}

TEST(ViewConversionTest, InvalidWindowsOfKindsToCome) {
  const std::string w = "view.spec.window.";
  const std::string day = "calendar { unit: UNIT_DAY time_zone: 'UTC' ";
  ExpectInvalid({
      {Window("calendar { time_zone: 'UTC' }"), w + "calendar.unit"},
      {Window("calendar { unit: 9 time_zone: 'UTC' }"), w + "calendar.unit"},
      {Window("calendar { unit: UNIT_DAY }"), w + "calendar.time_zone"},
      {Window("calendar { unit: UNIT_DAY time_zone: 'Mars/Olympus_Mons' }"),
       w + "calendar.time_zone"},
      {Window("calendar { unit: UNIT_DAY time_zone: '/etc/localtime' }"),
       w + "calendar.time_zone"},
      {Window("calendar { unit: UNIT_DAY time_zone: '../zoneinfo/UTC' }"),
       w + "calendar.time_zone"},
      {Window("calendar { unit: UNIT_DAY time_zone: 'localtime' }"),
       w + "calendar.time_zone"},
      {Window(day + "count: -1 }"), w + "calendar.count"},
      {Window("calendar { unit: UNIT_HOUR time_zone: 'UTC' count: 5 }"),
       w + "calendar.count"},
      {Window("calendar { unit: UNIT_MONTH time_zone: 'UTC' count: 7 }"),
       w + "calendar.count"},
      {Window("calendar { unit: UNIT_QUARTER time_zone: 'UTC' count: 3 }"),
       w + "calendar.count"},
      {Window(day + "week_start_day: 8 }"), w + "calendar.week_start_day"},
      {Window(day + "week_start_day: -1 }"), w + "calendar.week_start_day"},
      {Window(day + "day_start_offset { nanos: 1 } }"),
       w + "calendar.day_start_offset"},
      {Window(day + "day_start_offset { seconds: 86400 } }"),
       w + "calendar.day_start_offset"},
      {Window("cumulative { step { seconds: 1 } }"), w + "cumulative.size"},
      {Window("cumulative { size { seconds: 1 } }"), w + "cumulative.step"},
      {Window("cumulative { size { seconds: 7 } step { seconds: 2 } }"),
       w + "cumulative.step"},
      {Window("cumulative { size { seconds: 10001 } step { seconds: 1 } }"),
       w + "cumulative.step"},
      {Window("cumulative { size { seconds: 2 } step { seconds: 1 } offset { "
              "nanos: 1 } }"),
       w + "cumulative.offset"},
  });
}

TEST(ViewConversionTest, WindowsToComeAreNotBuilt) {
  const std::string w = "view.spec.window.";
  ExpectNotBuilt({
      {Window("calendar { unit: UNIT_DAY time_zone: 'Asia/Kathmandu' }"),
       w + "calendar"},
      {Window("calendar { unit: UNIT_HOUR count: 6 time_zone: 'UTC' }"),
       w + "calendar"},
      {Window("calendar { unit: UNIT_YEAR count: 7 time_zone: "
              "'Europe/Berlin' week_start_day: 7 day_start_offset { seconds: "
              "21600 } }"),
       w + "calendar"},
      {Window("global {}"), w + "global"},
      {Window("cumulative { size { seconds: 4 } step { seconds: 2 } }"),
       w + "cumulative"},
      {Window("session { gap { seconds: 1 } boundary_period { seconds: 9 } "
              "boundary_offset { seconds: -1 } }"),
       w + "session.boundary_period"},
  });
}

TEST(ViewConversionTest, InvalidAggregates) {
  const std::string a = "view.spec.aggregates[1].";
  ExpectInvalid({
      {Aggregate(""), a + "function"},
      {Aggregate("function: 99"), a + "function"},
      {Aggregate("function: FUNCTION_SUM"), a + "field"},
      {Aggregate("function: FUNCTION_SUM field: 'nope'"), a + "field"},
      {Aggregate("function: FUNCTION_SUM field: 'user'"), a + "field"},
      {Aggregate("function: FUNCTION_MEAN field: 'paid'"), a + "field"},
      {Aggregate("function: FUNCTION_COUNT field: 'nope'"), a + "field"},
      {Aggregate("function: FUNCTION_VARIANCE field: 'user'"), a + "field"},
      {Aggregate("function: FUNCTION_VARIANCE"), a + "field"},
      {Aggregate("function: FUNCTION_FIRST field: 'nope'"), a + "field"},
      {Aggregate("function: FUNCTION_HISTOGRAM field: 'raw' bounds: 1"),
       a + "field"},
      {Spec("aggregates { alias: 'n' function: FUNCTION_COUNT }"), a + "alias"},
      {Spec("aggregates { alias: '' function: FUNCTION_COUNT }"), a + "alias"},
      // Of a function to come, too.
      {Spec("aggregates { alias: 'n' function: FUNCTION_LAST field: 'user' }"),
       a + "alias"},
      {Aggregate("function: FUNCTION_QUANTILES field: 'amount'"),
       a + "quantiles"},
      {Aggregate("function: FUNCTION_QUANTILES field: 'amount' quantiles: 1.1"),
       a + "quantiles"},
      {Aggregate("function: FUNCTION_QUANTILES field: 'amount' quantiles: -1"),
       a + "quantiles"},
      {Aggregate("function: FUNCTION_QUANTILES field: 'amount' quantiles: nan"),
       a + "quantiles"},
      {Aggregate("function: FUNCTION_COUNT quantiles: 0.5"), a + "quantiles"},
      {Aggregate("function: FUNCTION_TOP_K field: 'user' k: -1"), a + "k"},
      {Aggregate("function: FUNCTION_COUNT k: 3"), a + "k"},
      {Aggregate("function: FUNCTION_HISTOGRAM field: 'amount'"), a + "bounds"},
      {Aggregate("function: FUNCTION_HISTOGRAM field: 'amount' bounds: [2, 1]"),
       a + "bounds"},
      {Aggregate("function: FUNCTION_HISTOGRAM field: 'amount' bounds: [1, 1]"),
       a + "bounds"},
      {Aggregate("function: FUNCTION_HISTOGRAM field: 'amount' bounds: nan"),
       a + "bounds"},
      {Aggregate("function: FUNCTION_SUM field: 'amount' bounds: 1"),
       a + "bounds"},
      {Aggregate("function: FUNCTION_DISTINCT_COUNT field: 'user' "
                 "relative_error: 1"),
       a + "relative_error"},
      {Aggregate("function: FUNCTION_DISTINCT_COUNT field: 'user' "
                 "relative_error: -0.1"),
       a + "relative_error"},
      {Aggregate("function: FUNCTION_SUM field: 'amount' relative_error: 0.1"),
       a + "relative_error"},
  });
}

TEST(ViewConversionTest, AggregatesToComeAreNotBuilt) {
  const std::string a = "view.spec.aggregates[1].";
  for (const char* function : {"VARIANCE", "STDDEV", "VAR_SAMP", "STDDEV_SAMP",
                               "FIRST", "LAST", "TOP_K", "COLLECT"}) {
    ExpectNotBuilt({{Aggregate(std::string("function: FUNCTION_") + function +
                               " field: 'amount'"),
                     a + "function"}});
  }
  ExpectNotBuilt({
      {Aggregate("function: FUNCTION_QUANTILES field: 'amount' quantiles: [0, "
                 "0.5, 1]"),
       a + "function"},
      {Aggregate("function: FUNCTION_HISTOGRAM field: 'weight' bounds: [1, 2]"),
       a + "function"},
      {Aggregate("function: FUNCTION_DISTINCT_COUNT field: 'user' "
                 "relative_error: 0.1"),
       a + "relative_error"},
  });
}

TEST(ViewConversionTest, InvalidFilters) {
  const std::string f = "view.spec.filter.predicates[0]";
  const auto filter = [](const std::string& predicate) {
    return Spec("filter { predicates { " + predicate + " } }");
  };
  ExpectInvalid({
      {filter("is_set: true"), f + ".field"},
      {filter("field: 'nope' is_set: true"), f + ".field"},
      {filter("field: 'user'"), f},
      {filter("field: 'user' any_of { int64_value: 1 }"), f + ".any_of[0]"},
      {filter("field: 'amount' any_of { int64_value: 1 } any_of { "
              "double_value: 1 }"),
       f + ".any_of[1]"},
      {filter("field: 'amount' prefix: 'x'"), f + ".prefix"},
      {filter("field: 'user' prefix: 'x' any_of { string_value: 'y' }"),
       f + ".prefix"},
  });
  ExpectNotBuilt({
      {filter("field: 'user' prefix: 'x'"), "view.spec.filter"},
      {filter("field: 'raw' any_of { bytes_value: 'x' } any_of {}"),
       "view.spec.filter"},
      {filter("field: 'paid' is_set: true"), "view.spec.filter"},
  });
}

TEST(ViewConversionTest, InvalidRest) {
  ExpectInvalid({
      {"view_id: 'Hourly'", "view_id"},
      {"view_id: ''", "view_id"},
      {"bootstrap { position: 9 }", "bootstrap.position"},
      {"bootstrap { from_event_time { nanos: -1 } }",
       "bootstrap.from_event_time"},
      {"view { display_name: '" + std::string(257, 'x') + "' }",
       "view.display_name"},
      {"view { labels { key: '' value: 'v' } }", "view.labels[\"\"]"},
      {"view { retention { results { seconds: -1 } } }",
       "view.retention.results"},
      {"view { retention { changes { nanos: 1 } } }", "view.retention.changes"},
      {"view { retention { late_events { seconds: -1 } } }",
       "view.retention.late_events"},
      {Spec("group_by: 'nope'"), "view.spec.group_by[1]"},
      {Spec("group_by: 'user'"), "view.spec.group_by[1]"},
      {Spec("allowed_lateness { seconds: -1 }"), "view.spec.allowed_lateness"},
      {Spec("allowed_lateness { nanos: 1 }"), "view.spec.allowed_lateness"},
      {Spec("late_rule: 9"), "view.spec.late_rule"},
      {Spec("session_late_check: 9"), "view.spec.session_late_check"},
      {Spec("late_event_policy: 9"), "view.spec.late_event_policy"},
      {Spec("accumulation_mode: 9"), "view.spec.accumulation_mode"},
      {Spec("window { session { gap { seconds: 1 } } } accumulation_mode: "
            "ACCUMULATION_MODE_DISCARDING"),
       "view.spec.accumulation_mode"},
      {Spec("trigger { early { every {} } }"), "view.spec.trigger.early.every"},
      {Spec("trigger { early { every { seconds: -1 } } }"),
       "view.spec.trigger.early.every"},
      {Spec("trigger { early { every_events: -1 } }"),
       "view.spec.trigger.early.every_events"},
      {Spec("trigger { late { every { seconds: -1 } } }"),
       "view.spec.trigger.late.every"},
      {Spec("trigger { late { every { seconds: 1 } none: true } }"),
       "view.spec.trigger.late.every"},
      {Spec("emit_empty { max_windows: -1 }"),
       "view.spec.emit_empty.max_windows"},
      {Spec("window { session { gap { seconds: 1 } } } emit_empty {}"),
       "view.spec.emit_empty"},
      {Spec("window { global {} } emit_empty {}"), "view.spec.emit_empty"},
  });
}

TEST(ViewConversionTest, TheRestToComeIsNotBuilt) {
  ExpectNotBuilt({
      {"bootstrap { position: POSITION_OLDEST }", "bootstrap.position"},
      {"bootstrap { from_event_time { seconds: 1 } }",
       "bootstrap.from_event_time"},
      {"view { retention { results { seconds: 1 } } }",
       "view.retention.results"},
      {"view { retention { changes {} } }", "view.retention.changes"},
      {"view { retention { late_events { seconds: 1 } } }",
       "view.retention.late_events"},
      {Spec("accumulation_mode: ACCUMULATION_MODE_DISCARDING"),
       "view.spec.accumulation_mode"},
      {Spec("accumulation_mode: ACCUMULATION_MODE_ACCUMULATING_AND_RETRACTING"),
       "view.spec.accumulation_mode"},
      {Spec("trigger { early { every { seconds: 1 } } }"),
       "view.spec.trigger.early.every"},
      {Spec("trigger { early { every_events: 10 } }"),
       "view.spec.trigger.early.every_events"},
      {Spec("trigger { late { every { seconds: 1 } } }"),
       "view.spec.trigger.late.every"},
      {Spec("emit_empty {}"), "view.spec.emit_empty"},
      {Spec("window { calendar { unit: UNIT_DAY time_zone: 'UTC' } } "
            "emit_empty { max_windows: 3 }"),
       "view.spec.window.calendar"},
  });
}

TEST(ViewConversionTest, WhatHasNoEffectIsTaken) {
  Answer("bootstrap { position: POSITION_NOW }");
  Answer("view { retention {} }");
  Answer(Spec("filter {}"));
  Answer(Spec("trigger { late { every {} } }"));
}

TEST(ViewConversionTest, WhatIsRequiredIsMissed) {
  CreateViewRequest request = Sound();
  request.clear_view();
  EXPECT_THAT(FieldsOf(Convert(request)), ElementsAre("view"));
  request = Sound();
  request.mutable_view()->clear_spec();
  EXPECT_THAT(FieldsOf(Convert(request)), ElementsAre("view.spec"));
  request = Sound();
  request.mutable_view()->mutable_spec()->clear_window();
  EXPECT_THAT(FieldsOf(Convert(request)), ElementsAre("view.spec.window"));
  request = Sound();
  request.mutable_view()->mutable_spec()->clear_aggregates();
  EXPECT_THAT(FieldsOf(Convert(request)), ElementsAre("view.spec.aggregates"));
}

TEST(ViewConversionTest, SeveralMistakesAreToldTogether) {
  CreateViewRequest request =
      Changed(Spec("late_rule: 9 accumulation_mode: 9 group_by: 'nope'"));
  EXPECT_THAT(FieldsOf(Convert(request)),
              testing::UnorderedElementsAre("view.spec.late_rule",
                                            "view.spec.accumulation_mode",
                                            "view.spec.group_by[1]"));
}

}  // namespace
}  // namespace casement::rpc
