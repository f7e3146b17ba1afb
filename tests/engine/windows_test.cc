// Windows, lateness, finality and triggers, as a user of a view sees them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/stream_tester.h"

namespace casement::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Lines = std::vector<std::string>;

ViewSpec WithLateness(ViewSpec spec, int64_t lateness) {
  spec.allowed_lateness_us = lateness;
  return spec;
}

TEST(TumblingTest, IsFinalOnceWhenTheWatermarkReachesTheEnd) {
  StreamTester t(StreamTester::StreamOf(), StreamTester::Tumbling(10));
  EXPECT_THAT(t.Send({{1}, {9}}), IsEmpty());
  EXPECT_THAT(t.Send({{10}}), ElementsAre("FINAL a [0,10) n=2"));
  EXPECT_THAT(t.Send({{10}, {19}}), IsEmpty());
  EXPECT_THAT(t.Open(), ElementsAre("OPEN a [10,20) n=3"));
}

TEST(TumblingTest, TimesBefore1970AreOrdinary) {
  StreamTester t(StreamTester::StreamOf(), StreamTester::Tumbling(10, -3));
  EXPECT_THAT(t.Send({{-4}, {-3}, {7}}),
              ElementsAre("FINAL a [-13,-3) n=1", "FINAL a [-3,7) n=1"));
}

TEST(TumblingTest, ResultsComeByClosingTimeStartAndKey) {
  StreamTester t(StreamTester::StreamOf(), StreamTester::Tumbling(10));
  EXPECT_THAT(t.Send({{11, "b"}, {1, "z"}, {12, "a"}}), IsEmpty())
      << "behind the watermark, but its window is closed: late";
  EXPECT_EQ(t.accounts().late, 1);
  EXPECT_THAT(t.End(),
              ElementsAre("FINAL a [10,20) n=1", "FINAL b [10,20) n=1"));
}

TEST(TumblingTest, EveryEventIsLateAfterTheEndOfTheStream) {
  StreamTester t(StreamTester::StreamOf(), StreamTester::Tumbling(10));
  t.Send({{5}});
  EXPECT_THAT(t.End(), ElementsAre("FINAL a [0,10) n=1"));
  EXPECT_THAT(t.Send({{1000}}), IsEmpty());
  EXPECT_EQ(t.accounts().late, 1);
  EXPECT_EQ(t.watermark(), kEndOfTime);
}

TEST(SlidingTest, AnEventIsInEachWindowThatCoversIt) {
  StreamTester t(StreamTester::StreamOf(), StreamTester::Sliding(5, 3));
  EXPECT_THAT(t.Send({{4}}), IsEmpty());
  EXPECT_THAT(t.End(), ElementsAre("FINAL a [0,5) n=1", "FINAL a [3,8) n=1"));
}

TEST(SlidingTest, TimesBetweenWindowsAreUnassigned) {
  StreamTester t(StreamTester::StreamOf(), StreamTester::Sliding(2, 5));
  t.Send({{1}, {2}, {4}, {5}});
  EXPECT_EQ(t.accounts().counted, 2);
  EXPECT_EQ(t.accounts().unassigned, 2);
}

TEST(SlidingTest, APartlyLateEventIsCountedWhereItsWindowsAreOpen) {
  StreamTester t(StreamTester::StreamOf(), StreamTester::Sliding(10, 5));
  EXPECT_THAT(t.Send({{2}, {10}}),
              ElementsAre("FINAL a [-5,5) n=1", "FINAL a [0,10) n=1"));
  // [0,10) is closed, [5,15) is open.
  EXPECT_THAT(t.Send({{7}}), IsEmpty());
  EXPECT_EQ(t.accounts().late, 0);
  EXPECT_EQ(t.accounts().late_places, 1);
  ASSERT_EQ(t.changes().fates.size(), 1u);
  EXPECT_THAT(t.changes().fates[0].in_views[0].late_windows,
              ElementsAre(Window{0, 10}));
  EXPECT_THAT(t.End(),
              ElementsAre("FINAL a [5,15) n=2", "FINAL a [10,20) n=1"));
}

// A window without events whose end the watermark passed must not come to life
// by an event that shares a slice with it.
TEST(SlidingTest, AClosedWindowThatWasEmptyStaysClosed) {
  StreamTester t(StreamTester::StreamOf(), StreamTester::Sliding(10, 5));
  EXPECT_THAT(t.Assert(12), IsEmpty());
  EXPECT_THAT(t.Send({{8}}), IsEmpty());
  EXPECT_THAT(t.End(), ElementsAre("FINAL a [5,15) n=1"));
}

TEST(SessionTest, GapRulesDifferAtExactlyTheGap) {
  StreamTester inclusive(StreamTester::StreamOf(100),
                         StreamTester::Session(5, GapRule::kInclusive));
  inclusive.Send({{0}, {5}});
  EXPECT_THAT(inclusive.End(), ElementsAre("FINAL a [0,10) n=2"));
  StreamTester exclusive(StreamTester::StreamOf(100),
                         StreamTester::Session(5, GapRule::kExclusive));
  exclusive.Send({{0}, {5}});
  EXPECT_THAT(exclusive.End(),
              ElementsAre("FINAL a [0,5) n=1", "FINAL a [5,10) n=1"));
}

TEST(SessionTest, ClosesWhenNothingOnTimeCanJoin) {
  StreamTester t(StreamTester::StreamOf(), StreamTester::Session(5));
  t.Send({{0}});
  EXPECT_THAT(t.Assert(5), IsEmpty());
  EXPECT_THAT(t.Assert(6), ElementsAre("FINAL a [0,5) n=1"));
}

TEST(SessionTest, ABridgeMergesAndReplacesAnnouncedRows) {
  ViewSpec view = StreamTester::Session(5);
  view.trigger.early_every_batch = true;
  StreamTester t(StreamTester::StreamOf(100), view);
  EXPECT_THAT(t.Send({{0}, {8}}),
              ElementsAre("EARLY a [0,5) n=1", "EARLY a [8,13) n=1"));
  // By closing time, then start: the new row has the closing time of the
  // second.
  EXPECT_THAT(t.Send({{4}}), ElementsAre("RETRACTED a [0,5)",
                                         "EARLY a [0,13) n=3 -[0,5) -[8,13)",
                                         "RETRACTED a [8,13)"));
  EXPECT_THAT(t.End(), ElementsAre("FINAL a [0,13) n=3"));
}

TEST(SessionTest, GrowthOfAnAnnouncedSessionIsSaidWithoutTriggers) {
  ViewSpec view = WithLateness(StreamTester::Session(5), 50);
  view.trigger.late_each_change = false;
  StreamTester t(StreamTester::StreamOf(), view);
  t.Send({{0}});
  EXPECT_THAT(t.Assert(20), ElementsAre("ON_TIME a [0,5) n=1"));
  EXPECT_THAT(t.Send({{3}}),
              ElementsAre("RETRACTED a [0,5)", "LATE a [0,8) n=2 -[0,5)"));
  EXPECT_THAT(t.Send({{2}}), IsEmpty()) << "same bounds, late is off";
  EXPECT_THAT(t.End(), ElementsAre("FINAL a [0,8) n=3"));
}

TEST(LatenessTest, AWindowTakesLateEventsUntilItIsFinal) {
  StreamTester t(StreamTester::StreamOf(),
                 WithLateness(StreamTester::Tumbling(10), 5));
  t.Send({{1}});
  EXPECT_THAT(t.Assert(10), ElementsAre("ON_TIME a [0,10) n=1"));
  EXPECT_THAT(t.Send({{2}}), ElementsAre("LATE a [0,10) n=2"));
  EXPECT_THAT(t.Send({{14}}), IsEmpty());
  EXPECT_THAT(t.Send({{3}}), ElementsAre("LATE a [0,10) n=3"));
  EXPECT_THAT(t.Send({{15}}), ElementsAre("FINAL a [0,10) n=3"));
  EXPECT_THAT(t.Send({{4}}), IsEmpty());
  EXPECT_EQ(t.accounts().late, 1);
}

TEST(LatenessTest, TheRulesDifferForAnOpenWindow) {
  ViewSpec behind = StreamTester::Tumbling(10);
  behind.late_rule = LateRule::kBehindWatermark;
  StreamTester t(StreamTester::StreamOf(), behind);
  t.Send({{5}, {4}, {5}});
  EXPECT_EQ(t.accounts().late, 1);
  StreamTester closed(StreamTester::StreamOf(), StreamTester::Tumbling(10));
  closed.Send({{5}, {4}, {5}});
  EXPECT_EQ(closed.accounts().late, 0);
}

TEST(TriggerTest, EachPartCanBeSwitchedOff) {
  ViewSpec view = WithLateness(StreamTester::Tumbling(10), 5);
  view.trigger.on_time = false;
  view.trigger.late_each_change = false;
  StreamTester t(StreamTester::StreamOf(), view);
  EXPECT_THAT(t.Send({{1}, {12}, {2}}), IsEmpty());
  EXPECT_THAT(t.End(),
              ElementsAre("FINAL a [0,10) n=2", "FINAL a [10,20) n=1"));
}

TEST(PartialSpanTest, WindowsThatBeganBeforeTheViewAreMarked) {
  StreamTester t(StreamTester::StreamOf(), StreamTester::Tumbling(10));
  t.Send({{15}});
  CreateViewRecord create;
  create.definition.id = "second";
  create.definition.spec = StreamTester::Tumbling(10);
  t.Fold(create);
  t.Send({{16}, {25}});
  const std::vector<Result> open = t.stream().OpenWindows(2, {}, 10);
  ASSERT_EQ(open.size(), 1u);
  EXPECT_FALSE(open[0].partial_span);
  EXPECT_EQ(open[0].window, (Window{20, 30}));
  EXPECT_EQ(t.stream().FindView("second")->accounts.final_results, 1);
  EXPECT_EQ(t.stream().FindView("second")->accounts.accepted, 2);
}

}  // namespace
}  // namespace casement::engine
