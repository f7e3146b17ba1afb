#include "server/rpc/time_conversion.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "server/rpc/utf8.h"

namespace casement::rpc {
namespace {

google::protobuf::Timestamp At(int64_t seconds, int32_t nanos) {
  google::protobuf::Timestamp timestamp;
  timestamp.set_seconds(seconds);
  timestamp.set_nanos(nanos);
  return timestamp;
}

google::protobuf::Duration Lasting(int64_t seconds, int32_t nanos) {
  google::protobuf::Duration duration;
  duration.set_seconds(seconds);
  duration.set_nanos(nanos);
  return duration;
}

TEST(TimeConversionTest, TimesAreFlooredTowardThePast) {
  engine::TimeUs time = 0;
  ASSERT_EQ(ToTimeUs(At(1, 999), &time), TimeFault::kNone);
  EXPECT_EQ(time, 1'000'000);
  ASSERT_EQ(ToTimeUs(At(-1, 999'999'999), &time), TimeFault::kNone);
  EXPECT_EQ(time, -1);
  ASSERT_EQ(ToTimeUs(At(-1, 999), &time), TimeFault::kNone);
  EXPECT_EQ(time, -1'000'000);
}

TEST(TimeConversionTest, TheRangeIsYears1To9999) {
  engine::TimeUs time = 0;
  EXPECT_EQ(ToTimeUs(At(-62135596800, 0), &time), TimeFault::kNone);
  EXPECT_EQ(time, engine::kMinEventTime);
  EXPECT_EQ(ToTimeUs(At(-62135596801, 999'999'999), &time),
            TimeFault::kOutOfRange);
  EXPECT_EQ(ToTimeUs(At(253402300799, 999'999'999), &time), TimeFault::kNone);
  EXPECT_EQ(time, engine::kMaxEventTime);
  EXPECT_EQ(ToTimeUs(At(253402300800, 0), &time), TimeFault::kOutOfRange);
  EXPECT_EQ(ToTimeUs(At(std::numeric_limits<int64_t>::max(), 0), &time),
            TimeFault::kOutOfRange);
  EXPECT_EQ(ToTimeUs(At(std::numeric_limits<int64_t>::min(), 0), &time),
            TimeFault::kOutOfRange);
}

TEST(TimeConversionTest, NanosMustBeBelowASecond) {
  engine::TimeUs time = 0;
  EXPECT_EQ(ToTimeUs(At(0, -1), &time), TimeFault::kInvalid);
  EXPECT_EQ(ToTimeUs(At(0, 1'000'000'000), &time), TimeFault::kInvalid);
}

TEST(TimeConversionTest, BoundsBeyondTheRangeGoOutAsTheyAre) {
  EXPECT_EQ(ToTimestamp(engine::kMaxEventTime + 1).seconds(), 253402300800);
  const google::protobuf::Timestamp least =
      ToTimestamp(std::numeric_limits<int64_t>::min());
  EXPECT_EQ(least.seconds(), -9223372036855);
  EXPECT_EQ(least.nanos(), 224'192'000);
  EXPECT_EQ(ToTimestamp(-1).seconds(), -1);
  EXPECT_EQ(ToTimestamp(-1).nanos(), 999'999'000);
}

TEST(TimeConversionTest, DurationsAreValidAndWholeMicroseconds) {
  EXPECT_EQ(*ToDurationUs(Lasting(1, 1000)), 1'000'001);
  EXPECT_EQ(*ToDurationUs(Lasting(-1, -1000)), -1'000'001);
  EXPECT_EQ(*ToDurationUs(Lasting(0, -1000)), -1);
  EXPECT_EQ(*ToDurationUs(Lasting(315576000000, 0)), 315576000000000000);
  EXPECT_FALSE(ToDurationUs(Lasting(0, 1)).ok());
  EXPECT_FALSE(ToDurationUs(Lasting(1, -1000)).ok());
  EXPECT_FALSE(ToDurationUs(Lasting(-1, 1000)).ok());
  EXPECT_FALSE(ToDurationUs(Lasting(0, 1'000'000'000)).ok());
  EXPECT_FALSE(ToDurationUs(Lasting(0, -1'000'000'000)).ok());
  EXPECT_FALSE(ToDurationUs(Lasting(315576000001, 0)).ok());
  EXPECT_FALSE(ToDurationUs(Lasting(-315576000001, 0)).ok());
}

TEST(TimeConversionTest, DurationsComeBack) {
  for (int64_t us : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{-1'500'000},
                     int64_t{86'400'000'001}}) {
    EXPECT_EQ(*ToDurationUs(ToDuration(us)), us);
  }
}

TEST(TimeConversionTest, ProgressTellsWhatIsFinal) {
  v1::Progress proto;
  SetProgress({.watermark = 10'000'000, .version = 7}, 3'000'000, &proto);
  EXPECT_EQ(proto.watermark_time().seconds(), 10);
  EXPECT_EQ(proto.final_time().seconds(), 7);
  EXPECT_EQ(proto.version(), 7);
  EXPECT_FALSE(proto.ended());
}

TEST(TimeConversionTest, NoWatermarkAndTheEndHaveNoTimes) {
  v1::Progress none;
  SetProgress({.watermark = engine::kNoWatermark, .version = 1}, 5, &none);
  EXPECT_FALSE(none.has_watermark_time());
  EXPECT_FALSE(none.has_final_time());
  v1::Progress ended;
  SetProgress({.watermark = engine::kEndOfTime, .version = 9}, 5, &ended);
  EXPECT_TRUE(ended.ended());
  EXPECT_FALSE(ended.has_watermark_time());
  EXPECT_FALSE(ended.has_final_time());
}

TEST(Utf8Test, TakesWhatRfc3629Takes) {
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8("plain ASCII, longer than a word"));
  EXPECT_TRUE(IsUtf8("12345678\xC3\xA4"));
  EXPECT_TRUE(IsUtf8("\xC2\x80"));
  EXPECT_TRUE(IsUtf8("\xE0\xA0\x80"));
  EXPECT_TRUE(IsUtf8("\xED\x9F\xBF"));
  EXPECT_TRUE(IsUtf8("\xEE\x80\x80"));
  EXPECT_TRUE(IsUtf8("\xF0\x90\x80\x80"));
  EXPECT_TRUE(IsUtf8("\xF4\x8F\xBF\xBF"));
  EXPECT_TRUE(IsUtf8(absl::string_view("a\0b", 3)));
}

TEST(Utf8Test, RefusesWhatItRefuses) {
  for (absl::string_view bad :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xC3", "\xC3(", "\xE0\x80\x80",
        "\xE0\x9F\xBF", "\xE2\x82", "\xED\xA0\x80", "\xED\xBF\xBF",
        "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\xFF", "12345678\xFF", "\xF0\x9F\x98"}) {
    EXPECT_FALSE(IsUtf8(bad)) << ToUtf8(bad, 100);
    EXPECT_TRUE(IsUtf8(ToUtf8(bad, 100)));
  }
}

TEST(Utf8Test, CutsBetweenCharacters) {
  EXPECT_EQ(ToUtf8("a\xC3\xA4z", 2), "a");
  EXPECT_EQ(ToUtf8("a\xC3\xA4z", 3), "a\xC3\xA4");
  EXPECT_EQ(ToUtf8("abc", 3), "abc");
}

}  // namespace
}  // namespace casement::rpc
