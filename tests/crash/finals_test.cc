#include "tests/crash/finals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/crash/times.h"

namespace casement::stress {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::Pair;

constexpr int64_t kMs = 1'000;

InputEvent At(int64_t time_us, int64_t amount, double price) {
  return {time_us, "k", amount, price};
}

TEST(FinalsTest, Tumbling) {
  const Finals finals =
      Recompute(ViewKind::kTumbling,
                {At(1 * kSecondUs, 3, 0.5), At(9 * kSecondUs, 4, 2.25),
                 At(10 * kSecondUs, 4, 1.0)});
  EXPECT_THAT(
      finals,
      ElementsAre(
          Pair("k [0, 10000000)",
               "n 2, amount 7, price 2.75, least 0.5, greatest 4, mean 3.5, "
               "amounts 2, from 1000000 to 9000000"),
          Pair("k [10000000, 20000000)",
               "n 1, amount 4, price 1, least 1, greatest 4, mean 4, "
               "amounts 1, from 10000000 to 10000000")));
}

TEST(FinalsTest, Sliding) {
  EXPECT_THAT(
      Recompute(ViewKind::kSliding, {At(30 * kSecondUs, 1, 1)}),
      ElementsAre(Key("k [10000000, 40000000)"), Key("k [20000000, 50000000)"),
                  Key("k [30000000, 60000000)")));
}

TEST(FinalsTest, SessionsJoinAtTheGapAndNotAfterIt) {
  EXPECT_THAT(Recompute(ViewKind::kSessions,
                        {At(4'500 * kMs + 1, 1, 1), At(1'500 * kMs, 1, 1),
                         At(3'000 * kMs, 1, 1), At(0, 1, 1)}),
              ElementsAre(Pair("k [0, 4500000)", HasSubstr("n 3,")),
                          Pair("k [4500001, 6000001)", HasSubstr("n 1,"))));
}

TEST(FinalsTest, ARowIsReadAsWhatIsRecomputed) {
  const std::vector<InputEvent> events = {At(1 * kSecondUs, 3, 0.5),
                                          At(9 * kSecondUs, 4, 2.25)};
  v1::WindowResult row;
  *row.mutable_window()->mutable_start_time() = ToTimestamp(0);
  *row.mutable_window()->mutable_end_time() = ToTimestamp(10 * kSecondUs);
  row.mutable_key()->add_parts()->set_string_value("k");
  row.set_event_count(2);
  *row.mutable_first_event_time() = ToTimestamp(1 * kSecondUs);
  *row.mutable_last_event_time() = ToTimestamp(9 * kSecondUs);
  row.add_values()->set_int64_value(2);
  row.add_values()->set_int64_value(7);
  row.add_values()->set_double_value(2.75);
  row.add_values()->set_double_value(0.5);
  row.add_values()->set_int64_value(4);
  row.add_values()->mutable_mean()->set_value(3.5);
  row.add_values()->set_int64_value(2);
  const Finals finals = {{IdentityOf(row), ContentsOf(row)}};
  EXPECT_EQ(Difference(Recompute(ViewKind::kTumbling, events), finals), "");
  row.set_event_count(1);
  EXPECT_THAT(ContentsOf(row), HasSubstr("no such row"));
}

TEST(FinalsTest, EveryDifferenceIsTold) {
  const Finals expected = {{"a", "1"}, {"b", "2"}, {"c", "3"}};
  EXPECT_EQ(Difference(expected, expected), "");
  EXPECT_THAT(Difference(expected, {{"a", "1"}, {"b", "0"}, {"d", "4"}}),
              HasSubstr("1 missing, 1 different, 1 unexpected of 3"));
}

}  // namespace
}  // namespace casement::stress
