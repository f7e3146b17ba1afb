#include "client/send_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace casement::client {
namespace {

BuiltBatch Batch(int events, int64_t first_tag) {
  BuiltBatch built;
  built.events = events;
  for (int i = 0; i < events; ++i) built.tags.push_back(first_tag + i);
  built.batch.set_source_position(std::to_string(first_tag));
  return built;
}

v1::AppendStreamResponse::Committed Through(int64_t sequence) {
  v1::AppendStreamResponse::Committed committed;
  committed.set_through_sequence(sequence);
  committed.set_version(sequence * 10);
  return committed;
}

TEST(SendQueueTest, NumbersGoOnAfterTheLastDurableOne) {
  SendQueue queue(7);
  queue.Push(Batch(1, 0));
  queue.Push(Batch(1, 1));
  EXPECT_EQ(queue.Next(10)->batch().sequence(), 8);
  EXPECT_EQ(queue.Next(10)->batch().sequence(), 9);
  EXPECT_EQ(queue.Next(10), nullptr);
}

TEST(SendQueueTest, NoMoreThanAllowedAreInFlight) {
  SendQueue queue(0);
  for (int i = 0; i < 3; ++i) queue.Push(Batch(1, i));
  EXPECT_NE(queue.Next(2), nullptr);
  EXPECT_NE(queue.Next(2), nullptr);
  EXPECT_EQ(queue.Next(2), nullptr);
  ASSERT_TRUE(queue.Acknowledge(Through(1)).ok());
  EXPECT_EQ(queue.Next(2)->batch().sequence(), 3);
}

TEST(SendQueueTest, AnAckCoversAllBeforeItAndTellsWhatIsNotable) {
  SendQueue queue(0);
  for (int i = 0; i < 3; ++i) queue.Push(Batch(2, i * 10));
  for (int i = 0; i < 3; ++i) queue.Next(10);
  v1::AppendStreamResponse::Committed committed = Through(3);
  v1::BatchAck& notable = *committed.add_notable();
  notable.set_sequence(2);
  notable.set_accepted_events(1);
  notable.mutable_rejects()->set_rejected_events(1);
  const auto reports = queue.Acknowledge(committed);
  ASSERT_TRUE(reports.ok());
  ASSERT_EQ(reports->size(), 3);
  EXPECT_EQ((*reports)[0].ack.accepted_events(), 2);
  EXPECT_EQ((*reports)[0].ack.version(), 30);
  EXPECT_EQ((*reports)[1].ack.accepted_events(), 1);
  EXPECT_EQ((*reports)[1].ack.rejects().rejected_events(), 1);
  EXPECT_THAT((*reports)[2].tags, ::testing::ElementsAre(20, 21));
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.events(), 0);
}

TEST(SendQueueTest, AnAckOfWhatWasNotSentIsAnError) {
  SendQueue queue(0);
  queue.Push(Batch(1, 0));
  EXPECT_TRUE(absl::IsInternal(queue.Acknowledge(Through(1)).status()));
}

TEST(SendQueueTest, AnOldAckChangesNothing) {
  SendQueue queue(5);
  queue.Push(Batch(1, 0));
  const auto reports = queue.Acknowledge(Through(4));
  ASSERT_TRUE(reports.ok());
  EXPECT_TRUE(reports->empty());
  EXPECT_EQ(queue.size(), 1);
}

TEST(SendQueueTest, ANewCallSendsAllThatIsUnacknowledgedAgain) {
  SendQueue queue(0);
  for (int i = 0; i < 3; ++i) queue.Push(Batch(1, i));
  for (int i = 0; i < 3; ++i) queue.Next(10);
  ASSERT_TRUE(queue.Acknowledge(Through(1)).ok());
  // The server has 2 as well, but its answer was lost.
  ASSERT_TRUE(queue.Rewind(2).ok());
  EXPECT_EQ(queue.Next(10)->batch().sequence(), 2);
  EXPECT_EQ(queue.Next(10)->batch().sequence(), 3);
}

TEST(SendQueueTest, AServerWithLessThanItAcknowledgedHasLostData) {
  SendQueue queue(0);
  queue.Push(Batch(1, 0));
  queue.Next(10);
  ASSERT_TRUE(queue.Acknowledge(Through(1)).ok());
  EXPECT_TRUE(absl::IsDataLoss(queue.Rewind(0)));
}

TEST(SendQueueTest, AServerWithMoreThanWasSentIsAnError) {
  SendQueue queue(0);
  queue.Push(Batch(1, 0));
  EXPECT_TRUE(queue.Rewind(1).ok());
  EXPECT_TRUE(absl::IsInternal(queue.Rewind(2)));
}

TEST(SendQueueTest, ADroppedBatchGivesItsNumberToTheNext) {
  SendQueue queue(0);
  for (int i = 0; i < 4; ++i) queue.Push(Batch(i + 1, i));
  for (int i = 0; i < 4; ++i) queue.Next(10);
  const auto dropped = queue.Drop(2);
  ASSERT_TRUE(dropped.ok());
  EXPECT_EQ(dropped->events, 2);
  EXPECT_EQ(queue.events(), 1 + 3 + 4);
  ASSERT_TRUE(queue.Rewind(1).ok());
  for (const auto& [sequence, position] :
       {std::pair(1, "0"), std::pair(2, "2"), std::pair(3, "3")}) {
    const auto request = queue.Next(10);
    EXPECT_EQ(request->batch().sequence(), sequence);
    EXPECT_EQ(request->batch().source_position(), position);
  }
  EXPECT_TRUE(absl::IsNotFound(queue.Drop(4).status()));
}

}  // namespace
}  // namespace casement::client
