#include "tests/conformance/iso.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace casement::conformance {
namespace {

Micros Time(absl::string_view text) {
  absl::StatusOr<Micros> time = ParseTime(text);
  EXPECT_TRUE(time.ok()) << time.status();
  return time.value_or(-1);
}

Micros Length(absl::string_view text) {
  absl::StatusOr<Micros> duration = ParseDuration(text);
  EXPECT_TRUE(duration.ok()) << duration.status();
  return duration.value_or(-1);
}

TEST(IsoTest, TimesAreMicrosecondsSince1970) {
  EXPECT_EQ(Time("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(Time("1969-12-31T23:59:59.999999Z"), -1);
  EXPECT_EQ(Time("2026-05-04T10:00:00Z"), Micros(1777888800000000));
  EXPECT_EQ(Time("2016-12-31T23:59:59.5Z") + 500'000,
            Time("2017-01-01T00:00:00Z"));
  EXPECT_EQ(Time("2024-03-01T00:00:00Z") - Time("2024-02-29T00:00:00Z"),
            Length("P1D"));
  EXPECT_EQ(Time("0001-01-01T00:00:00Z"), Micros(-62135596800000000));
  EXPECT_EQ(Time("9999-12-31T23:59:59.999999Z") + 1,
            Micros(253402300800000000));
}

TEST(IsoTest, DigitsAreTheCountItself) {
  EXPECT_EQ(Time("0"), 0);
  EXPECT_EQ(Time("-600000001"), -600000001);
  EXPECT_EQ(Time("-9223372036854775808"),
            Micros(std::numeric_limits<int64_t>::min()));
  EXPECT_EQ(Time("9223372036854775808"),
            Micros(std::numeric_limits<int64_t>::max()) + 1);
}

TEST(IsoTest, EdgesOfTheGlobalWindow) {
  EXPECT_EQ(Time("+inf"), kPlusInfinity);
  EXPECT_EQ(Time("-inf"), kMinusInfinity);
}

TEST(IsoTest, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "-", "now", "2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z",
        "2016-12-31T23:59:60Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00",
        "2026-01-01T00:00:00+01:00", "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00.1234567Z", "2026-01-01 00:00:00Z",
        "0000-01-01T00:00:00Z", "12a", "+5", "1.5", "2026-1-01T00:00:00Z"}) {
    EXPECT_FALSE(ParseTime(text).ok()) << text;
  }
}

TEST(IsoTest, Durations) {
  EXPECT_EQ(Length("PT10M"), 600'000'000);
  EXPECT_EQ(Length("P1W"), Length("P7D"));
  EXPECT_EQ(Length("P1DT1H1M1.000001S"),
            Length("P1D") + Length("PT1H") + Length("PT61S") + 1);
  EXPECT_EQ(Length("-PT2H15M"), -Length("PT135M"));
  EXPECT_EQ(Length("PT0.25S"), 250'000);
  EXPECT_EQ(Length("PT0S"), 0);
  EXPECT_EQ(Length("P36500D"), Micros(36500) * 86400 * 1000000);
  EXPECT_EQ(Length("1"), 1);
  EXPECT_EQ(Length("-17"), -17);
}

TEST(IsoTest, RefusesWhatIsNoDuration) {
  for (const char* text :
       {"", "P", "-P", "PT", "P1DT", "PT1M1H", "P1M", "P1Y", "PT1D", "10M",
        "PT1.5M", "PT1.S", "PT.5S", "PT1.1234567S", "PTT1S", "PT1S1S", "P1",
        "ten minutes", "--5"}) {
    EXPECT_FALSE(ParseDuration(text).ok()) << text;
  }
}

TEST(IsoTest, FormatsWhatItReads) {
  for (const char* text :
       {"1970-01-01T00:00:00Z", "1969-12-31T23:59:59.999999Z",
        "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z",
        "2026-02-28T23:58:00Z", "+inf", "-inf", "253402300800000000",
        "-62135596800000001", "9223372036854775807"}) {
    EXPECT_EQ(FormatTime(Time(text)), text);
  }
}

TEST(IsoTest, TimestampsKeepTheirNanosPositive) {
  const google::protobuf::Timestamp before = ToTimestamp(-1);
  EXPECT_EQ(before.seconds(), -1);
  EXPECT_EQ(before.nanos(), 999'999'000);
  for (const char* text :
       {"-1", "0", "-62135596800000001", "9223372036854775807",
        "-9223372036854775808", "253402300800000000"}) {
    EXPECT_EQ(FromTimestamp(ToTimestamp(Time(text))), Time(text)) << text;
  }
}

TEST(IsoTest, FinerDigitsAreFloored) {
  google::protobuf::Timestamp time;
  time.set_seconds(-1);
  time.set_nanos(999'999'999);
  EXPECT_EQ(FromTimestamp(time), -1);
}

TEST(IsoTest, DurationsHaveOneSign) {
  const google::protobuf::Duration duration = ToDuration(-1'500'000);
  EXPECT_EQ(duration.seconds(), -1);
  EXPECT_EQ(duration.nanos(), -500'000'000);
}

TEST(IsoTest, IntegersOfAnyWidth) {
  for (const char* text :
       {"0", "-1", "9223372036854775808", "-170141183460469231731687303"}) {
    absl::StatusOr<absl::int128> value = ParseInteger(text);
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_EQ(FormatInteger(*value), text);
  }
  EXPECT_FALSE(ParseInteger("1e3").ok());
}

}  // namespace
}  // namespace casement::conformance
