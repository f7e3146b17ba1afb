// Who holds the watermark, who pushes it, and what is refused at the door.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/engine/error.h"
#include "tests/engine/stream_tester.h"

namespace casement::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

StreamSpec Least(std::vector<std::string> required = {}) {
  StreamSpec spec = StreamTester::StreamOf();
  spec.watermark.combine = Combine::kLeastOverProducers;
  spec.watermark.required_producers = std::move(required);
  return spec;
}

std::string ReasonOf(const absl::Status& status) {
  const auto detail = GetErrorDetail(status);
  return detail.has_value() ? detail->reason : "";
}

TEST(WatermarkTest, IsTheLeastOverProducersThatCount) {
  StreamTester t(Least(), StreamTester::Tumbling(10));
  t.Send({{50}}, "p");
  EXPECT_EQ(t.watermark(), 50);
  t.Send({{20}}, "q");
  EXPECT_EQ(t.watermark(), 50) << "it never goes back";
  t.Send({{60}}, "p");
  EXPECT_EQ(t.watermark(), 50);
  t.Send({{55}}, "q");
  EXPECT_EQ(t.watermark(), 55);
}

TEST(WatermarkTest, WaitsForRequiredProducersUnlessIdle) {
  StreamTester t(Least({"p", "q"}), StreamTester::Tumbling(10));
  t.Send({{50}}, "p");
  EXPECT_EQ(t.watermark(), kNoWatermark);
  EXPECT_THAT(t.Say(SourceState::kIdle, "q"), IsEmpty());
  EXPECT_EQ(t.watermark(), 50);
}

TEST(WatermarkTest, AnIdleProducerCountsAgainOnceItSpeaks) {
  StreamTester t(Least(), StreamTester::Tumbling(10));
  t.Send({{5}}, "p");
  t.Send({{20}}, "q");
  EXPECT_EQ(t.watermark(), 5);
  EXPECT_THAT(t.Say(SourceState::kIdle, "p"),
              ElementsAre("FINAL a [0,10) n=1"));
  EXPECT_EQ(t.watermark(), 20);
  t.Send({{21}}, "p");
  t.Send({{90}}, "q");
  EXPECT_EQ(t.watermark(), 21);
}

TEST(WatermarkTest, WithAllIdleItStands) {
  StreamTester t(Least(), StreamTester::Tumbling(10));
  t.Send({{5}}, "p");
  t.Say(SourceState::kDone, "p");
  EXPECT_EQ(t.watermark(), 5);
}

TEST(WatermarkTest, AHeldEventCountsAndMovesNothing) {
  StreamTester t(StreamTester::StreamOf(), StreamTester::Tumbling(10));
  t.SetClock(100);
  t.Send({{50}, {100 + kDefaultFutureSkewUs + 1}, {60}});
  EXPECT_EQ(t.watermark(), 60);
  EXPECT_EQ(t.accounts().counted, 3);
}

TEST(WatermarkTest, TheBatchRuleJudgesAllEventsByTheWatermarkBefore) {
  StreamSpec stream = StreamTester::StreamOf();
  stream.watermark.advance = Advance::kAfterEachBatch;
  StreamTester t(stream, StreamTester::Tumbling(10));
  EXPECT_THAT(t.Send({{25}, {5}}), ElementsAre("FINAL a [0,10) n=1"));
  EXPECT_EQ(t.accounts().late, 0);
}

TEST(AdmissionTest, ARepeatIsAnsweredAsBeforeAndCountsNothing) {
  StreamTester t(StreamTester::StreamOf(), StreamTester::Tumbling(10));
  const BatchRecord batch = t.NextBatch({{1}, {2}});
  t.Fold(batch);
  const auto again = t.stream().Admit(batch);
  ASSERT_TRUE(again.ok());
  ASSERT_TRUE(again->has_value());
  EXPECT_TRUE((*again)->repeat);
  EXPECT_EQ((*again)->accepted, 2);
}

TEST(AdmissionTest, EachFaultHasItsReason) {
  StreamTester t(StreamTester::StreamOf(), StreamTester::Tumbling(10));
  const BatchRecord first = t.NextBatch({{1}});
  t.Fold(first);
  BatchRecord other = first;
  other.events.times[0] = 2;
  SetDigest(&other);
  EXPECT_EQ(ReasonOf(t.stream().Admit(other).status()), kSequenceReused);
  BatchRecord gap = t.NextBatch({{1}});
  ++gap.sequence;
  EXPECT_EQ(ReasonOf(t.stream().Admit(gap).status()), kSequenceGap);
  BatchRecord fenced = t.NextBatch({{1}});
  --fenced.epoch;
  EXPECT_EQ(ReasonOf(t.stream().Admit(fenced).status()), kProducerFenced);
  BatchRecord nobody = t.NextBatch({{1}});
  nobody.producer = "nobody";
  EXPECT_EQ(ReasonOf(t.stream().Admit(nobody).status()), kNoSuchResource);
  EXPECT_EQ(ReasonOf(t.stream().Admit(t.NextBatch({})).status()),
            kMalformedBatch);
}

TEST(AdmissionTest, AnAssertionTooFarAheadIsRefusedWithItsBatch) {
  StreamTester t(StreamTester::StreamOf(), StreamTester::Tumbling(10));
  t.SetClock(0);
  BatchRecord batch = t.NextBatch({{1}});
  batch.asserted_watermark = kDefaultFutureSkewUs + 1;
  EXPECT_EQ(ReasonOf(t.stream().Admit(batch).status()), kInvalidField);
  batch.asserted_watermark = kDefaultFutureSkewUs;
  EXPECT_TRUE(t.stream().Admit(batch).ok());
}

TEST(AdmissionTest, AKeyThatIsTooLargeRejectsItsEventAlone) {
  StreamTester t(StreamTester::StreamOf(), StreamTester::Tumbling(10));
  t.Send({{1, std::string(kMaxKeyBytes, 'k')},
          {2, std::string(kMaxKeyBytes + 1, 'k')}});
  EXPECT_EQ(t.changes().ack->accepted, 1);
  ASSERT_EQ(t.changes().rejects.size(), 1u);
  EXPECT_EQ(t.changes().rejects[0].reason, RejectReason::kValueTooLarge);
}

TEST(AdmissionTest, ABatchWhoseResultsCouldFillMemoryIsRefused) {
  for (const bool early : {true, false}) {
    ViewSpec view = StreamTester::Sliding(10000, 1);
    view.trigger.early_every_batch = early;
    StreamTester t(StreamTester::StreamOf(), view);
    const int most = (early ? kMaxToldPlacements : kMaxBatchPlacements) / 10000;
    BatchRecord batch = t.NextBatch(std::vector<TestEvent>(most, TestEvent{1}));
    EXPECT_TRUE(t.stream().Admit(batch).ok());
    batch = t.NextBatch(std::vector<TestEvent>(most + 1, TestEvent{1}));
    EXPECT_EQ(ReasonOf(t.stream().Admit(batch).status()), kBatchTooLarge);
  }
}

// The server refuses input by this: it must know of results to come, not only
// of what is held.
TEST(MemoryTest, CountsTheResultsThatOpenWindowsWillGive) {
  StreamTester few(StreamTester::StreamOf(), StreamTester::Sliding(100, 10));
  StreamTester many(StreamTester::StreamOf(), StreamTester::Sliding(10000, 1));
  few.Send({{1}});
  many.Send({{1}});
  EXPECT_GT(many.stream().memory_bytes(),
            few.stream().memory_bytes() + 9000 * 100);
  many.End();
  EXPECT_LT(many.stream().memory_bytes(), few.stream().memory_bytes());
}

TEST(AdmissionTest, MoreAnswersThanAreRememberedAreStillSuccess) {
  StreamTester t(StreamTester::StreamOf(), StreamTester::Tumbling(10));
  const BatchRecord first = t.NextBatch({{1}});
  t.Fold(first);
  for (int i = 0; i < kRememberedAnswers; ++i) t.Send({{2}});
  const auto again = t.stream().Admit(first);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE((*again)->repeat);
  EXPECT_EQ((*again)->accepted, 0);
}

}  // namespace
}  // namespace casement::engine
