#include "server/rpc/in_flight_batches.h"

#include <gtest/gtest.h>

#include <string>

#include "server/engine/error.h"
#include "server/rpc/call_registry.h"
#include "server/rpc/service_context.h"

namespace casement::rpc {
namespace {

runtime::AppendResult Ok(int64_t sequence) {
  runtime::AppendResult result;
  result.ack.sequence = sequence;
  result.ack.version = 100 + sequence;
  result.ack.progress.version = result.ack.version;
  result.ack.accepted = 1;
  return result;
}

absl::Status Malformed() {
  return engine::MakeError(absl::StatusCode::kInvalidArgument,
                           engine::kMalformedBatch, "malformed");
}

// What goes out next, in short: "committed 5", "failed 6" or "".
std::string Next(InFlightBatches* batches) {
  v1::AppendStreamResponse response;
  if (!batches->Compose(&response)) return "";
  batches->Written();
  if (response.has_failed()) {
    return "failed " + std::to_string(response.failed().sequence());
  }
  std::string text =
      "committed " + std::to_string(response.committed().through_sequence());
  for (const v1::BatchAck& ack : response.committed().notable()) {
    text += " +" + std::to_string(ack.sequence());
  }
  return text;
}

TEST(InFlightBatchesTest, AcknowledgesInOrderWhateverTheOrderOfAnswers) {
  InFlightBatches batches;
  batches.Open(4, false);
  const auto five = batches.Take(5);
  const auto six = batches.Take(6);
  const auto seven = batches.Take(7);
  batches.Answer(*seven, Ok(7));
  batches.Answer(*six, Ok(6));
  EXPECT_EQ(Next(&batches), "");
  EXPECT_EQ(batches.committed(), 4);
  batches.Answer(*five, Ok(5));
  EXPECT_EQ(Next(&batches), "committed 7");
  EXPECT_EQ(Next(&batches), "");
  EXPECT_EQ(batches.committed(), 7);
  EXPECT_TRUE(batches.idle());
}

TEST(InFlightBatchesTest, TellsVersionAndProgressOfTheLast) {
  InFlightBatches batches;
  batches.Open(0, false);
  batches.Answer(*batches.Take(1), Ok(1));
  batches.Answer(*batches.Take(2), Ok(2));
  v1::AppendStreamResponse response;
  ASSERT_TRUE(batches.Compose(&response));
  EXPECT_EQ(response.committed().through_sequence(), 2);
  EXPECT_EQ(response.committed().version(), 102);
  EXPECT_EQ(response.committed().progress().version(), 102);
}

TEST(InFlightBatchesTest, AFailureBlocksUntilItIsSentRight) {
  InFlightBatches batches;
  batches.Open(4, false);
  const auto five = batches.Take(5);
  const auto six = batches.Take(6);
  const auto seven = batches.Take(7);
  batches.Answer(*six, Malformed());
  EXPECT_EQ(Next(&batches), "");  // not before what is in front of it
  batches.Answer(*five, Ok(5));
  EXPECT_EQ(Next(&batches), "committed 5");
  EXPECT_EQ(Next(&batches), "failed 6");
  batches.Answer(*seven, Ok(7));
  EXPECT_EQ(Next(&batches), "");
  EXPECT_TRUE(batches.blocked());
  EXPECT_FALSE(batches.Take(8).has_value());
  EXPECT_FALSE(batches.Take(7).has_value());
  const auto again = batches.Take(6);
  ASSERT_TRUE(again.has_value());
  EXPECT_FALSE(batches.blocked());
  const auto next = batches.Take(7);
  batches.Answer(*again, Ok(6));
  batches.Answer(*next, Ok(7));
  EXPECT_EQ(Next(&batches), "committed 7");
}

TEST(InFlightBatchesTest, AnAnswerFromBeforeTheBlockIsNotTold) {
  InFlightBatches batches;
  batches.Open(0, false);
  const auto one = batches.Take(1);
  const auto two = batches.Take(2);
  batches.Answer(*one, Malformed());
  EXPECT_EQ(Next(&batches), "failed 1");
  const auto one_again = batches.Take(1);
  // Still of the first try: refused, since 1 was not there.
  batches.Answer(*two, engine::MakeError(absl::StatusCode::kAborted,
                                         engine::kSequenceGap, "gap"));
  EXPECT_EQ(Next(&batches), "");
  EXPECT_FALSE(batches.blocked());
  batches.Answer(*one_again, Ok(1));
  EXPECT_EQ(Next(&batches), "committed 1");
}

TEST(InFlightBatchesTest, AfterAGapTheProducerGoesBack) {
  InFlightBatches batches;
  batches.Open(6, false);
  batches.Answer(
      *batches.Take(9),
      engine::MakeError(absl::StatusCode::kAborted, engine::kSequenceGap, "gap",
                        {{"expected_sequence", "7"}}));
  EXPECT_EQ(Next(&batches), "failed 9");
  for (int64_t sequence : {7, 8, 9}) {
    const auto ticket = batches.Take(sequence);
    ASSERT_TRUE(ticket.has_value()) << sequence;
    batches.Answer(*ticket, Ok(sequence));
  }
  EXPECT_EQ(Next(&batches), "committed 9");
}

TEST(InFlightBatchesTest, OnlyWhatTellsSomethingIsNotable) {
  InFlightBatches batches;
  batches.Open(0, false);
  batches.Answer(*batches.Take(1), Ok(1));
  runtime::AppendResult late = Ok(2);
  late.ack.late = 1;
  batches.Answer(*batches.Take(2), late);
  runtime::AppendResult rejected = Ok(3);
  rejected.ack.rejected = 1;
  batches.Answer(*batches.Take(3), rejected);
  runtime::AppendResult repeat = Ok(1);
  repeat.ack.repeat = true;
  batches.Answer(*batches.Take(1), repeat);
  EXPECT_EQ(Next(&batches), "committed 3 +2 +3 +1");
}

TEST(InFlightBatchesTest, WaitingHelpsIsTold) {
  InFlightBatches batches;
  batches.Open(0, false);
  engine::ErrorDetail detail;
  detail.reason = engine::kOverloaded;
  detail.retry_delay_us = 250'000;
  batches.Answer(*batches.Take(1),
                 engine::MakeError(absl::StatusCode::kResourceExhausted,
                                   "too much", detail));
  v1::AppendStreamResponse response;
  ASSERT_TRUE(batches.Compose(&response));
  EXPECT_EQ(response.failed().retry_delay().nanos(), 250'000'000);
  EXPECT_EQ(response.failed().status().code(), 8);
}

TEST(InFlightBatchesTest, WhatNothingCanMendEndsTheCall) {
  for (const absl::Status& status :
       {engine::MakeError(absl::StatusCode::kFailedPrecondition,
                          engine::kProducerFenced, "fenced"),
        engine::NoSuchResource("streams/s"), absl::DataLossError("damaged"),
        engine::MakeError(absl::StatusCode::kUnavailable, engine::kDraining,
                          "stopping")}) {
    InFlightBatches batches;
    batches.Open(0, false);
    const auto one = batches.Take(1);
    const auto two = batches.Take(2);
    batches.Answer(*one, status);
    batches.Answer(*two, Ok(2));
    EXPECT_EQ(batches.fatal(), status);
    EXPECT_EQ(Next(&batches), "");
    EXPECT_FALSE(batches.Take(3).has_value());
  }
}

TEST(InFlightBatchesTest, WhatIsBeingWrittenIsNotAcknowledgedYet) {
  InFlightBatches batches;
  batches.Open(0, false);
  batches.Answer(*batches.Take(1), Ok(1));
  batches.Answer(*batches.Take(2), Ok(2));
  batches.Take(3);
  EXPECT_EQ(batches.unacknowledged(), 3u);
  v1::AppendStreamResponse response;
  ASSERT_TRUE(batches.Compose(&response));
  EXPECT_EQ(batches.unacknowledged(), 3u);
  batches.Written();
  EXPECT_EQ(batches.unacknowledged(), 1u);
}

TEST(InFlightBatchesTest, LargeDetailsGoOutInSeveralResponses) {
  InFlightBatches batches;
  batches.Open(0, /*fates=*/true);
  for (int64_t sequence = 1; sequence <= 8; ++sequence) {
    runtime::AppendResult result = Ok(sequence);
    result.fates.resize(10'000);
    for (auto& fate : result.fates) {
      fate.in_views.emplace_back();
      fate.in_views.back().view = "a-view-with-a-long-name";
      fate.in_views.back().state = engine::FateInView::State::kLate;
      fate.in_views.back().late_windows = {{0, 1}};
    }
    batches.Answer(*batches.Take(sequence), result);
  }
  int responses = 0;
  v1::AppendStreamResponse response;
  int64_t through = 0;
  int notable = 0;
  while (batches.Compose(&response)) {
    batches.Written();
    ++responses;
    EXPECT_LT(response.ByteSizeLong(), 2u << 20);
    EXPECT_GT(response.committed().through_sequence(), through);
    through = response.committed().through_sequence();
    notable += response.committed().notable_size();
    EXPECT_EQ(response.committed()
                  .notable(response.committed().notable_size() - 1)
                  .sequence(),
              through);
  }
  EXPECT_GT(responses, 1);
  EXPECT_EQ(through, 8);
  EXPECT_EQ(notable, 8);
}

class CountingCall : public LongCall {
 public:
  void Drain() override { ++drained; }
  int drained = 0;
};

TEST(CallRegistryTest, DrainsThoseThatAreThereAndThoseThatCome) {
  CallRegistry registry;
  auto before = std::make_shared<CountingCall>();
  auto gone = std::make_shared<CountingCall>();
  auto place = registry.Add(before);
  { auto left = registry.Add(gone); }
  EXPECT_EQ(registry.size(), 1u);
  registry.DrainAll();
  EXPECT_EQ(before->drained, 1);
  EXPECT_EQ(gone->drained, 0);
  auto after = std::make_shared<CountingCall>();
  auto after_place = registry.Add(after);
  EXPECT_EQ(after->drained, 1);
}

TEST(CallRegistryTest, KnowsWhenItIsEmpty) {
  CallRegistry registry;
  auto call = std::make_shared<CountingCall>();
  auto place = registry.Add(call);
  EXPECT_FALSE(registry.WaitUntilEmpty(std::chrono::milliseconds(0)));
  place = CallRegistry::Registration();
  EXPECT_TRUE(registry.WaitUntilEmpty(std::chrono::milliseconds(0)));
}

TEST(CallRegistryTest, ShortCallsCountToo) {
  CallRegistry registry;
  registry.BeginShort();
  registry.BeginShort();
  registry.EndShort();
  EXPECT_FALSE(registry.WaitUntilEmpty(std::chrono::milliseconds(0)));
  registry.EndShort();
  EXPECT_TRUE(registry.WaitUntilEmpty(std::chrono::milliseconds(0)));
}

TEST(MemoryReservationTest, IsGivenBack) {
  ServiceContext services;
  constexpr int64_t kAll = ServiceContext::kSubscriberBytes;
  {
    auto most = services.ReserveForSubscriber(kAll - 1);
    ASSERT_TRUE(most.ok());
    EXPECT_TRUE(services.ReserveForSubscriber(1).ok());
    const absl::Status status = services.ReserveForSubscriber(2).status();
    EXPECT_TRUE(absl::IsResourceExhausted(status));
    const auto detail = engine::GetErrorDetail(status);
    ASSERT_TRUE(detail.has_value());
    EXPECT_EQ(detail->reason, engine::kQuota);
    EXPECT_FALSE(detail->retry_delay_us.has_value());
  }
  EXPECT_TRUE(services.ReserveForSubscriber(kAll).ok());
}

}  // namespace
}  // namespace casement::rpc
