#include "client/event.h"

#include <gtest/gtest.h>

#include "client/names.h"

namespace casement::client {
namespace {

TEST(EventTest, TimesAreFlooredToMicroseconds) {
  EXPECT_EQ(Event(absl::UnixEpoch() + absl::Nanoseconds(1999)).time_us(), 1);
  EXPECT_EQ(Event(absl::UnixEpoch() - absl::Nanoseconds(1)).time_us(), -1);
}

TEST(EventTest, TimestampsBefore1970HaveNanosThatAreNotNegative) {
  const auto timestamp = ToTimestamp(-1);
  EXPECT_EQ(timestamp.seconds(), -1);
  EXPECT_EQ(timestamp.nanos(), 999'999'000);
  EXPECT_EQ(ToTimestamp(-2'000'000).seconds(), -2);
  EXPECT_EQ(ToTimestamp(-2'000'000).nanos(), 0);
}

TEST(EventTest, SettingAFieldAgainReplacesIt) {
  Event event;
  event.Set("a", 1).Set("a", "x").Set("b", 2.5).Set("c", true);
  ASSERT_EQ(event.fields().size(), 3);
  EXPECT_EQ(std::get<std::string>(event.fields()[0].second), "x");
  EXPECT_EQ(std::get<double>(event.fields()[1].second), 2.5);
  EXPECT_EQ(std::get<bool>(event.fields()[2].second), true);
}

TEST(EventTest, RowsAreNoLargerThanTheirBound) {
  const Event event = Event::AtMicros(INT64_MIN)
                          .Set("number", INT64_MIN)
                          .Set("text", std::string(300, 'x'))
                          .Set("ratio", 1.0)
                          .SetId("id");
  v1::RowBatch batch;
  ASSERT_TRUE(ToRow(event, batch.add_events()));
  EXPECT_LE(static_cast<int64_t>(batch.ByteSizeLong()), MaxRowBytes(event));
}

TEST(EventTest, KnowsUtf8) {
  for (const char* good :
       {"", "a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xEF\xBF\xBF",
        "\xF4\x8F\xBF\xBF", "\xED\x9F\xBF"}) {
    EXPECT_TRUE(IsUtf8(good)) << good;
  }
  for (const char* bad :
       {"\x80", "\xC3", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80",
        "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF",
        "a\xE2\x82", "\xE2\x82z"}) {
    EXPECT_FALSE(IsUtf8(bad)) << bad;
  }
}

TEST(NamesTest, ShortAndFullNamesMeanTheSame) {
  EXPECT_EQ(*StreamName("flights"), "streams/flights");
  EXPECT_EQ(*StreamName("streams/flights"), "streams/flights");
  EXPECT_EQ(*ViewName("flights/daily"), "streams/flights/views/daily");
  EXPECT_EQ(*ViewName("streams/flights/views/daily"),
            "streams/flights/views/daily");
  EXPECT_EQ(StreamOfView("streams/flights/views/daily"), "streams/flights");
  EXPECT_EQ(ShortName("streams/flights/views/daily"), "flights/daily");
  EXPECT_EQ(LastPart("streams/flights"), "flights");
}

TEST(NamesTest, OtherShapesAreRefused) {
  for (const char* bad : {"", "a/b", "/a", "streams/", "streams/a/views/b"}) {
    EXPECT_FALSE(StreamName(bad).ok()) << bad;
  }
  for (const char* bad : {"", "a", "a/", "/b", "a/b/c", "streams/a/x/b"}) {
    EXPECT_FALSE(ViewName(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace casement::client
