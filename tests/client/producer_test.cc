#include "client/producer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "client/status.h"
#include "tests/client/fake_server.h"

namespace casement::client {
namespace {

using ::testing::HasSubstr;

constexpr char kName[] = "streams/s/producers/p";

class ProducerTest : public ::testing::Test {
 protected:
  ProducerOptions Options() {
    ProducerOptions options;
    options.stream = "s";
    options.producer_id = "p";
    options.max_batch_events = 3;
    options.linger = absl::InfiniteDuration();
    options.backoff.initial = absl::Milliseconds(1);
    options.backoff.most = absl::Milliseconds(20);
    options.on_batch = [this](const BatchReport& report) {
      sequences_.push_back(report.sequence);
    };
    return options;
  }

  std::unique_ptr<Producer> Open(ProducerOptions options) {
    absl::StatusOr<std::unique_ptr<Producer>> producer =
        Producer::Open(server_.channel(), std::move(options));
    EXPECT_TRUE(producer.ok()) << producer.status();
    return producer.ok() ? *std::move(producer) : nullptr;
  }

  static Event Numbered(int i) {
    return Event::AtMicros(i).Set("amount", i).Set("name", "x");
  }

  // Events 0 to n - 1 were counted, each once, in order.
  void ExpectCounted(int n) {
    const std::vector<DecodedEvent> events = server_.ingest.Events(kName);
    ASSERT_EQ(events.size(), n);
    for (int i = 0; i < n; ++i) {
      EXPECT_EQ(events[i].fields.at("amount"), Value(int64_t{i}));
    }
  }

  // Every acknowledged batch was reported, once and in order.
  void ExpectReported(int64_t batches) {
    ASSERT_EQ(sequences_.size(), batches);
    for (int64_t i = 0; i < batches; ++i) EXPECT_EQ(sequences_[i], i + 1);
  }

  FakeServer server_;
  std::vector<int64_t> sequences_;
};

TEST_F(ProducerTest, SendsBatchesInOrderAndClosesWithTheLastSequence) {
  auto producer = Open(Options());
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(producer->Add(Numbered(i)).ok());
  ASSERT_TRUE(producer->Close().ok());
  ExpectCounted(10);
  ExpectReported(4);
  EXPECT_EQ(server_.ingest.closed_at(), 4);
  const ProducerTotals totals = producer->totals();
  EXPECT_EQ(totals.batches, 4);
  EXPECT_EQ(totals.received_events, 10);
  EXPECT_EQ(totals.accepted_events, 10);
  EXPECT_EQ(totals.pending_events, 0);
  EXPECT_EQ(totals.version, 40);
  EXPECT_EQ(totals.breaks, 0);
  EXPECT_FALSE(producer->Add(Numbered(10)).ok());
}

TEST_F(ProducerTest, RowsSayTheSameAsColumns) {
  ProducerOptions options = Options();
  options.form = BatchForm::kRows;
  auto producer = Open(options);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(producer->Add(Numbered(i)).ok());
  ASSERT_TRUE(producer->Close().ok());
  ExpectCounted(4);
  EXPECT_TRUE(server_.ingest.Get(kName).batches[0].has_rows());
}

TEST_F(ProducerTest, CountsWhatTheServerTells) {
  auto producer = Open(Options());
  ASSERT_TRUE(producer->Add(Event::AtMicros(-5).SetTag(71)).ok());  // Late.
  ASSERT_TRUE(producer->Add(Event().SetTag(72)).ok());  // Has no time.
  ASSERT_TRUE(producer->Add(Numbered(3)).ok());
  ASSERT_TRUE(producer->Flush().ok());
  const ProducerTotals totals = producer->totals();
  EXPECT_EQ(totals.received_events, 3);
  EXPECT_EQ(totals.accepted_events, 2);
  EXPECT_EQ(totals.late_events, 1);
  EXPECT_EQ(totals.rejected_events, 1);
}

TEST_F(ProducerTest, TellsTheTagOfARejectedEvent) {
  ProducerOptions options = Options();
  std::vector<int64_t> tags;
  options.on_batch = [&tags](const BatchReport& report) {
    for (const auto& reject : report.ack.rejects().examples()) {
      tags.push_back(report.tags.at(reject.index()));
    }
  };
  auto producer = Open(options);
  ASSERT_TRUE(producer->Add(Numbered(0).SetTag(71)).ok());
  ASSERT_TRUE(producer->Add(Event().SetTag(72)).ok());
  ASSERT_TRUE(producer->Close().ok());
  EXPECT_THAT(tags, ::testing::ElementsAre(72));
}

TEST_F(ProducerTest, ResendsAfterBrokenCallsAndNothingCountsTwice) {
  // Each break loses the answers to batches that were taken.
  server_.ingest.break_after = {2, 5, 6, 9};
  server_.ingest.lazy_acks = true;
  ProducerOptions options = Options();
  std::vector<bool> connection;
  options.on_connection = [&connection](const absl::Status& status) {
    connection.push_back(status.ok());
  };
  auto producer = Open(options);
  for (int i = 0; i < 29; ++i) {
    ASSERT_TRUE(
        producer
            ->Add(i == 4 ? Event::AtMicros(-4).Set("amount", 4) : Numbered(i))
            .ok());
  }
  // The fake acknowledges at the close only, and Close waits for that.
  server_.ingest.lazy_acks = false;
  ASSERT_TRUE(producer->Close().ok());
  ExpectCounted(29);
  ExpectReported(10);
  const ProducerTotals totals = producer->totals();
  EXPECT_EQ(totals.received_events, 29);
  EXPECT_EQ(totals.accepted_events, 29);
  // Told by the answer to the repeat, since the first one was lost.
  EXPECT_EQ(totals.late_events, 1);
  EXPECT_EQ(totals.breaks, 4);
  EXPECT_GT(totals.duplicate_batches, 0);
  EXPECT_THAT(connection, ::testing::ElementsAre(false, true, false, true,
                                                 false, true, false, true));
}

TEST_F(ProducerTest, GoesOnWhenTheServerIsStoppedAndStartedAgain) {
  auto producer = Open(Options());
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(producer->Add(Numbered(i)).ok());
  ASSERT_TRUE(producer->Flush().ok());
  server_.Stop();
  for (int i = 6; i < 12; ++i) ASSERT_TRUE(producer->Add(Numbered(i)).ok());
  server_.Start();
  ASSERT_TRUE(producer->Close().ok());
  ExpectCounted(12);
  ExpectReported(4);
}

TEST_F(ProducerTest, BlocksAtTheBatchesInFlightThatTheServerAllows) {
  server_.ingest.limits.set_max_in_flight_batches(2);
  std::atomic<bool> pause = true;
  server_.ingest.paused = [&pause] { return pause.load(); };
  auto producer = Open(Options());
  std::atomic<int> added = 0;
  int64_t most_pending = 0;
  std::thread caller([&] {
    for (int i = 0; i < 600; ++i) {
      if (!producer->Add(Numbered(i)).ok()) return;
      most_pending = std::max(most_pending, producer->totals().pending_events);
      ++added;
    }
  });
  while (added < 9) std::this_thread::yield();
  pause = false;
  caller.join();
  // Two batches on their way, and three events that wait for a place.
  EXPECT_EQ(most_pending, 9);
  ASSERT_TRUE(producer->Close().ok());
  ExpectCounted(600);
}

TEST_F(ProducerTest, BatchesAreNoLargerThanTheServerAllows) {
  server_.ingest.limits.set_max_batch_events(2);
  auto producer = Open(Options());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(producer->Add(Numbered(i)).ok());
  ASSERT_TRUE(producer->Close().ok());
  EXPECT_EQ(server_.ingest.Get(kName).batches.size(), 3);
}

TEST_F(ProducerTest, LingeringEventsAreSentWithoutAFlush) {
  ProducerOptions options = Options();
  options.linger = absl::Milliseconds(1);
  auto producer = Open(options);
  ASSERT_TRUE(producer->Add(Numbered(0)).ok());
  while (producer->totals().accepted_events == 0) std::this_thread::yield();
  ExpectCounted(1);
}

TEST_F(ProducerTest, ASecondProducerShutsTheFirstOut) {
  auto first = Open(Options());
  ASSERT_TRUE(first->Add(Numbered(0)).ok());
  ASSERT_TRUE(first->Flush().ok());
  auto second = Open(Options());
  EXPECT_EQ(second->epoch(), first->epoch() + 1);
  EXPECT_EQ(second->resumed_sequence(), 1);
  ASSERT_TRUE(first->Add(Numbered(7)).ok());
  const absl::Status status = first->Flush();
  EXPECT_EQ(ErrorReason(status), "PRODUCER_FENCED") << status;
  EXPECT_EQ(ErrorReason(first->Add(Numbered(8))), "PRODUCER_FENCED");
  EXPECT_EQ(ErrorReason(first->Close()), "PRODUCER_FENCED");
  ExpectCounted(1);
}

TEST_F(ProducerTest, CarriesThePositionOfTheLastEventOfEachBatch) {
  {
    auto producer = Open(Options());
    EXPECT_EQ(producer->resumed_position(), "");
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(producer->Add(Numbered(i), "at " + std::to_string(i)).ok());
    }
    ASSERT_TRUE(producer->Close().ok());
  }
  const FakeIngest::State state = server_.ingest.Get(kName);
  EXPECT_EQ(state.batches[0].source_position(), "at 2");
  EXPECT_EQ(state.batches[1].source_position(), "at 4");
  EXPECT_EQ(Open(Options())->resumed_position(), "at 4");
}

TEST_F(ProducerTest, AProgramThatEndsInTheMiddleResumesWithoutLossOrRepeat) {
  // Each life dies somewhere; what it had not got acknowledged may be there
  // or not, and the position tells.
  server_.ingest.break_after = {1, 3, 6};
  for (int life = 0; life < 5; ++life) {
    ProducerOptions options = Options();
    options.give_up_after = absl::ZeroDuration();
    auto producer = Open(options);
    const std::string& position = producer->resumed_position();
    int next = position.empty() ? 0 : std::stoi(position) + 1;
    for (; next < 25; ++next) {
      if (!producer->Add(Numbered(next), std::to_string(next)).ok()) break;
    }
    if (producer->Close().ok()) break;
  }
  ExpectCounted(25);
}

TEST_F(ProducerTest, ARefusedBatchIsFinal) {
  server_.ingest.judge = [](const v1::Batch& batch) {
    if (batch.sequence() != 2) return grpc::Status::OK;
    return ServiceError(grpc::StatusCode::INVALID_ARGUMENT, "INVALID_FIELD",
                        "batch 2 is bad");
  };
  auto producer = Open(Options());
  absl::Status status;
  for (int i = 0; i < 9 && status.ok(); ++i)
    status = producer->Add(Numbered(i));
  if (status.ok()) status = producer->Close();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("batch 2 is bad"));
  ExpectCounted(3);
}

TEST_F(ProducerTest, ARefusedBatchCanBeLeftOut) {
  bool refused = false;
  server_.ingest.judge = [&refused](const v1::Batch& batch) {
    if (batch.sequence() != 2 || refused) return grpc::Status::OK;
    refused = true;
    return ServiceError(grpc::StatusCode::INVALID_ARGUMENT, "INVALID_FIELD",
                        "batch 2 is bad");
  };
  ProducerOptions options = Options();
  std::vector<int64_t> left_out;
  options.on_refused = [&left_out](const BatchReport& report,
                                   const absl::Status&) {
    left_out = report.tags;
    return true;
  };
  auto producer = Open(options);
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(producer->Add(Numbered(i).SetTag(i)).ok());
  }
  ASSERT_TRUE(producer->Close().ok());
  EXPECT_THAT(left_out, ::testing::ElementsAre(3, 4, 5));
  const std::vector<DecodedEvent> events = server_.ingest.Events(kName);
  ASSERT_EQ(events.size(), 9);
  EXPECT_EQ(events[2].fields.at("amount"), Value(int64_t{2}));
  EXPECT_EQ(events[3].fields.at("amount"), Value(int64_t{6}));
  const ProducerTotals totals = producer->totals();
  EXPECT_EQ(totals.refused_events, 3);
  EXPECT_EQ(totals.received_events, 9);
  EXPECT_EQ(totals.batches, 3);
}

TEST_F(ProducerTest, AFullServerIsTriedAgain) {
  int refusals = 3;
  server_.ingest.judge = [&refusals](const v1::Batch&) {
    if (refusals-- <= 0) return grpc::Status::OK;
    return ServiceError(grpc::StatusCode::RESOURCE_EXHAUSTED, "OVERLOADED",
                        "later");
  };
  server_.ingest.retry_delay_ms = 1;
  auto producer = Open(Options());
  for (int i = 0; i < 7; ++i) ASSERT_TRUE(producer->Add(Numbered(i)).ok());
  ASSERT_TRUE(producer->Close().ok());
  ExpectCounted(7);
  EXPECT_EQ(producer->totals().breaks, 3);
}

TEST_F(ProducerTest, AServerThatIsFullForGoodIsAnError) {
  server_.ingest.judge = [](const v1::Batch&) {
    return ServiceError(grpc::StatusCode::RESOURCE_EXHAUSTED, "QUOTA",
                        "no more room");
  };
  auto producer = Open(Options());
  ASSERT_TRUE(producer->Add(Numbered(0)).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(producer->Flush()));
}

TEST_F(ProducerTest, GivesUpWhenTheServerStaysAway) {
  ProducerOptions options = Options();
  options.give_up_after = absl::Milliseconds(50);
  auto producer = Open(options);
  server_.Stop();
  ASSERT_TRUE(producer->Add(Numbered(0)).ok());
  const absl::Status status = producer->Flush();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("gave up after 50ms"));
}

TEST_F(ProducerTest, AServerThatLostAcknowledgedBatchesIsAnError) {
  auto producer = Open(Options());
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(producer->Add(Numbered(i)).ok());
  ASSERT_TRUE(producer->Flush().ok());
  server_.Stop();
  FakeIngest::State state = server_.ingest.Get(kName);
  state.last_sequence = 1;
  server_.ingest.Set(kName, state);
  server_.Start();
  ASSERT_TRUE(producer->Add(Numbered(6)).ok());
  EXPECT_TRUE(absl::IsDataLoss(producer->Flush()));
}

TEST_F(ProducerTest, AWatermarkRidesBehindItsEvents) {
  auto producer = Open(Options());
  ASSERT_TRUE(producer->Add(Numbered(0)).ok());
  ASSERT_TRUE(producer->AssertWatermark(absl::FromUnixMicros(-1)).ok());
  ASSERT_TRUE(producer->SetState(v1::SOURCE_STATE_DONE).ok());
  ASSERT_TRUE(producer->Close().ok());
  const FakeIngest::State state = server_.ingest.Get(kName);
  ASSERT_EQ(state.batches.size(), 2);
  EXPECT_EQ(state.batches[0].columns().row_count(), 1);
  EXPECT_EQ(state.batches[0].watermark_time().seconds(), -1);
  EXPECT_EQ(state.batches[0].watermark_time().nanos(), 999'999'000);
  EXPECT_EQ(state.batches[1].source_state(), v1::SOURCE_STATE_DONE);
  EXPECT_EQ(state.batches[1].events_case(), v1::Batch::EVENTS_NOT_SET);
}

TEST_F(ProducerTest, ReadyMadeBatchesKeepTheirPlace) {
  auto producer = Open(Options());
  ASSERT_TRUE(producer->Add(Numbered(0)).ok());
  ColumnBuilder builder(producer->stream().fields());
  ASSERT_TRUE(builder.AddRow(Numbered(1)).ok());
  v1::Batch batch;
  *batch.mutable_columns() = builder.Take();
  ASSERT_TRUE(producer->Send(batch).ok());
  ASSERT_TRUE(producer->Add(Numbered(2)).ok());
  ASSERT_TRUE(producer->Close().ok());
  ExpectCounted(3);
  EXPECT_EQ(producer->totals().received_events, 3);
  EXPECT_TRUE(absl::IsInvalidArgument(Open(Options())->Send(v1::Batch())));
}

TEST_F(ProducerTest, AnEventThatNoBatchCanHoldLeavesTheRestAlone) {
  auto producer = Open(Options());
  ASSERT_TRUE(producer->Add(Numbered(0)).ok());
  // Rows can't hold the text, columns not the field.
  const absl::Status status =
      producer->Add(Event::AtMicros(1).Set("other", std::string("\xFF")));
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  ASSERT_TRUE(producer->Add(Numbered(1)).ok());
  ASSERT_TRUE(producer->Close().ok());
  ExpectCounted(2);
}

TEST_F(ProducerTest, LostAnswersToOpenAreTriedAgain) {
  server_.ingest.lose_open_answers = 2;
  auto producer = Open(Options());
  // Every try raised the epoch; the last one's answer is what counts.
  EXPECT_EQ(producer->epoch(), 3);
  ASSERT_TRUE(producer->Add(Numbered(0)).ok());
  EXPECT_TRUE(producer->Close().ok());
}

TEST_F(ProducerTest, AGuardedOpenWhoseAnswerIsLostDoesNotGuess) {
  server_.ingest.lose_open_answers = 1;
  ProducerOptions options = Options();
  options.expected_epoch = 0;
  const auto producer = Producer::Open(server_.channel(), options);
  EXPECT_TRUE(absl::IsAborted(producer.status())) << producer.status();
}

TEST_F(ProducerTest, AGuardedOpenIsRefusedWhileAnotherHoldsTheName) {
  Open(Options());
  ProducerOptions options = Options();
  options.expected_epoch = 0;
  const auto producer = Producer::Open(server_.channel(), options);
  EXPECT_EQ(ErrorReason(producer.status()), "PRODUCER_FENCED");
}

TEST_F(ProducerTest, OpeningOnNoStreamSaysSo) {
  ProducerOptions options = Options();
  options.stream = "nothing";
  const auto producer = Producer::Open(server_.channel(), options);
  EXPECT_TRUE(absl::IsNotFound(producer.status()));
}

TEST_F(ProducerTest, OpenWaitsForAServerThatStarts) {
  server_.Stop();
  std::thread starter([this] { server_.Start(); });
  EXPECT_NE(Open(Options()), nullptr);
  starter.join();
}

TEST_F(ProducerTest, DestroyedInTheMiddleItDoesNotHang) {
  std::atomic<bool> pause = true;
  server_.ingest.paused = [&pause] { return pause.load(); };
  auto producer = Open(Options());
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(producer->Add(Numbered(i)).ok());
  producer.reset();
  pause = false;
}

}  // namespace
}  // namespace casement::client
