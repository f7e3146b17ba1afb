#include "client/tool/row_writer.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "client/tool/table.h"
#include "client/tool/values.h"

namespace casement::tool {
namespace {

using ::testing::ElementsAre;
using Json = nlohmann::json;

google::protobuf::Timestamp At(int64_t seconds, int nanos = 0) {
  google::protobuf::Timestamp time;
  time.set_seconds(seconds);
  time.set_nanos(nanos);
  return time;
}

template <typename Message>
Message Parse(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message));
  return message;
}

TEST(ValuesTest, TimesHaveMicrosecondsOnlyWhereTheyAreNotZero) {
  EXPECT_EQ(FormatTime(At(0)), "1970-01-01T00:00:00Z");
  EXPECT_EQ(FormatTime(At(978'332'040)), "2001-01-01T06:54:00Z");
  EXPECT_EQ(FormatTime(At(0, 1000)), "1970-01-01T00:00:00.000001Z");
  EXPECT_EQ(FormatTime(At(-1, 500'000'000)), "1969-12-31T23:59:59.500000Z");
}

TEST(ValuesTest, TimesBeyondTheYearsAreMicroseconds) {
  EXPECT_EQ(FormatTime(At(-62'135'596'800)), "0001-01-01T00:00:00Z");
  EXPECT_EQ(FormatTime(At(-62'135'596'801, 999'999'000)), "-62135596800000001");
  EXPECT_EQ(FormatTime(At(253'402'300'799)), "9999-12-31T23:59:59Z");
  EXPECT_EQ(FormatTime(At(253'402'300'800)), "253402300800000000");
  // More microseconds than an int64 holds.
  EXPECT_EQ(FormatTime(At(std::numeric_limits<int64_t>::max())),
            "9223372036854775807000000");
}

TEST(ValuesTest, DoublesReadBackAsTheSameNumber) {
  for (const double value :
       {0.1, 1.0 / 3, 1e300, 5e-324, -2.5, 123456789.125, 1e21}) {
    EXPECT_EQ(std::strtod(FormatDouble(value).c_str(), nullptr), value);
  }
  EXPECT_EQ(FormatDouble(0.1), "0.1");
  EXPECT_EQ(JsonDouble(std::nan("")), "\"NaN\"");
  EXPECT_EQ(JsonDouble(-std::numeric_limits<double>::infinity()),
            "\"-Infinity\"");
}

TEST(ValuesTest, JsonStringsAreAlwaysValid) {
  for (const std::string& text :
       {std::string("plain"), std::string("\"\\/\b\n\r\t\x01\x7f"),
        std::string("\xC3\xA9\xE2\x82\xAC"), std::string("\0x", 2)}) {
    const Json json = Json::parse(JsonString(text), nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << text;
    EXPECT_EQ(json.get<std::string>(), text);
  }
  EXPECT_EQ(Json::parse(JsonString("a\xFFz")).get<std::string>(),
            "a\xEF\xBF\xBDz");
}

TEST(ValuesTest, CsvFieldsAreQuotedWhereTheyMustBe) {
  EXPECT_EQ(CsvField("plain", false), "plain");
  EXPECT_EQ(CsvField("a,b", false), "\"a,b\"");
  EXPECT_EQ(CsvField("say \"x\"", false), "\"say \"\"x\"\"\"");
  EXPECT_EQ(CsvField("two\nlines", false), "\"two\nlines\"");
  // A null and an empty text are told apart.
  EXPECT_EQ(CsvField("", true), "");
  EXPECT_EQ(CsvField("", false), "\"\"");
}

class RowWriterTest : public ::testing::Test {
 protected:
  RowWriterTest() {
    spec_ = Parse<v1::ViewSpec>(R"pb(
      group_by: "origin"
      group_by: "flag"
      aggregates { alias: "n" function: FUNCTION_COUNT }
      aggregates { alias: "total" function: FUNCTION_SUM }
      aggregates { alias: "mean" function: FUNCTION_MEAN }
      aggregates { alias: "least" function: FUNCTION_MIN })pb");
    row_ = Parse<v1::WindowResult>(R"pb(
      view: "streams/s/views/v"
      revision: "1"
      key {
        parts { string_value: "LAS" }
        parts {}
      }
      window {
        start_time { seconds: 0 }
        end_time { seconds: 86400 }
      }
      finality: FINALITY_FINAL
      reason: EMIT_REASON_WATERMARK
      version: 9007199254740993
      event_count: 3
      values { int64_value: 3 }
      values { decimal_value: "18446744073709551616" }
      values {
        mean {
          value: 2.5
          sum { int64_value: 5 }
          count: 2
        }
      }
      values {}
      first_event_time { seconds: 1 }
      last_event_time { seconds: 2 nanos: 3000 })pb");
  }

  Json WriteJson() {
    std::ostringstream out;
    NewJsonlWriter(spec_, &out)->Write(row_);
    const std::string text = out.str();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
    const Json json = Json::parse(text, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << text;
    return json;
  }

  std::string WriteCsv() {
    std::ostringstream out;
    NewCsvWriter(spec_, &out, false)->Write(row_);
    return out.str();
  }

  v1::ViewSpec spec_;
  v1::WindowResult row_;
};

TEST_F(RowWriterTest, JsonHasTheWholeRow) {
  const Json json = WriteJson();
  EXPECT_EQ(json["view"], "streams/s/views/v");
  EXPECT_EQ(json["revision"], "1");
  EXPECT_EQ(json["key"]["origin"], "LAS");
  EXPECT_TRUE(json["key"]["flag"].is_null());
  EXPECT_EQ(json["start"], "1970-01-01T00:00:00Z");
  EXPECT_EQ(json["end"], "1970-01-02T00:00:00Z");
  EXPECT_EQ(json["finality"], "FINAL");
  EXPECT_EQ(json["reason"], "WATERMARK");
  EXPECT_TRUE(json["version"].is_number_integer());
  EXPECT_EQ(json["version"], 9007199254740993);
  EXPECT_EQ(json["event_count"], 3);
  EXPECT_EQ(json["values"]["n"], 3);
  EXPECT_EQ(json["values"]["total"], "18446744073709551616");
  EXPECT_EQ(json["values"]["mean"], 2.5);
  EXPECT_EQ(json["values_means"]["mean"]["sum"], 5);
  EXPECT_EQ(json["values_means"]["mean"]["count"], 2);
  EXPECT_TRUE(json["values"].contains("least"));
  EXPECT_TRUE(json["values"]["least"].is_null());
  EXPECT_EQ(json["last_event_time"], "1970-01-01T00:00:02.000003Z");
  EXPECT_FALSE(json.contains("timing"));
  EXPECT_FALSE(json.contains("partial_span"));
}

TEST_F(RowWriterTest, JsonTellsHowSettledAProvisionalRowIs) {
  row_.set_finality(v1::FINALITY_PROVISIONAL);
  row_.set_timing(v1::TIMING_EARLY);
  row_.set_partial_span(true);
  *row_.mutable_final_at() = At(90'000);
  const Json json = WriteJson();
  EXPECT_EQ(json["finality"], "PROVISIONAL");
  EXPECT_EQ(json["timing"], "EARLY");
  EXPECT_EQ(json["partial_span"], true);
  EXPECT_EQ(json["final_at"], "1970-01-02T01:00:00Z");
}

TEST_F(RowWriterTest, ARetractedRowHasNoValues) {
  row_.set_finality(v1::FINALITY_RETRACTED);
  row_.clear_values();
  const Json json = WriteJson();
  EXPECT_EQ(json["finality"], "RETRACTED");
  EXPECT_FALSE(json.contains("values"));
  EXPECT_FALSE(json.contains("event_count"));
}

TEST_F(RowWriterTest, JsonListsReplacedWindows) {
  *row_.add_replaced_windows()->mutable_start_time() = At(5);
  const Json json = WriteJson();
  EXPECT_EQ(json["replaced_windows"][0]["start"], "1970-01-01T00:00:05Z");
  EXPECT_TRUE(json["replaced_windows"][0]["end"].is_null());
}

TEST_F(RowWriterTest, WindowsWithoutBoundsAreNull) {
  row_.clear_window();
  const Json json = WriteJson();
  EXPECT_TRUE(json["start"].is_null());
  EXPECT_TRUE(json["end"].is_null());
}

TEST_F(RowWriterTest, CsvHasOneColumnForEachName) {
  EXPECT_EQ(
      WriteCsv(),
      "streams/s/views/v,1,LAS,,1970-01-01T00:00:00Z,1970-01-02T00:00:00Z,"
      "FINAL,,9007199254740993,3,3,18446744073709551616,2.5,,"
      "1970-01-01T00:00:01Z,1970-01-01T00:00:02.000003Z,false,false,,\n");
  EXPECT_THAT(CsvColumns(spec_),
              ElementsAre("view", "revision", "origin", "flag", "window_start",
                          "window_end", "finality", "timing", "version",
                          "event_count", "n", "total", "mean", "least",
                          "first_event_time", "last_event_time", "partial_span",
                          "empty", "final_at", "operation"));
}

TEST_F(RowWriterTest, CsvNamesNeverClash) {
  spec_.set_group_by(0, "version");
  spec_.mutable_aggregates(0)->set_alias("flag");
  spec_.mutable_aggregates(1)->set_alias("view");
  const std::vector<std::string> columns = CsvColumns(spec_);
  EXPECT_EQ(columns[2], "key.version");
  EXPECT_EQ(columns[3], "flag");
  EXPECT_EQ(columns[10], "value.flag");
  EXPECT_EQ(columns[11], "value.view");
}

TEST(TableTest, ColumnsAreAlignedAndLinesCut) {
  Table table({"A", "LONGER"});
  table.Add({"\xC3\xA9\xC3\xA9\xC3\xA9", "x"});
  table.Add({"1", "escape \x1b here"});
  std::ostringstream out;
  table.Print(out);
  EXPECT_EQ(out.str(),
            "A    LONGER\n\xC3\xA9\xC3\xA9\xC3\xA9  x\n1    escape ? here\n");
  out.str("");
  table.Print(out, false, 4);
  EXPECT_EQ(out.str(), "\xC3\xA9\xC3\xA9\xC3\xA9 \n1   \n");
}

}  // namespace
}  // namespace casement::tool
