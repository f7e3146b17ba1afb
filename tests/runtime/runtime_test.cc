// Requests and their answers, on a store that works.
#include "server/runtime/runtime.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/runtime_tester.h"

namespace casement::runtime {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class RuntimeTest : public ::testing::Test {
 protected:
  void SetUp() override { tester_.Start(); }

  RuntimeTester tester_;
};

TEST_F(RuntimeTest, EventsComeOutAsFinalResults) {
  tester_.MakeStream();
  const auto first =
      tester_.Append("s", 1, {{1, "a", 5}, {2, "b", 7}, {3, "a", 1}});
  ASSERT_THAT(first, IsOk());
  EXPECT_EQ(first->ack.accepted, 3);
  EXPECT_FALSE(first->ack.repeat);
  const auto second = tester_.Append("s", 2, {{15, "a", 2}});
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(second->ack.progress.watermark, 10 * kSecond);
  EXPECT_EQ(second->ack.version, first->ack.version + 1);
  tester_.WaitForVersion("s", second->ack.version);
  EXPECT_THAT(tester_.Log(),
              ElementsAre("v4 FINAL [0,10) a 2 6", "v4 FINAL [0,10) b 1 7"));
}

TEST_F(RuntimeTest, StreamsAndViewsAreDefinedOnce) {
  ASSERT_THAT(tester_.CreateStream(TestStream("s")), IsOk());
  EXPECT_THAT(tester_.CreateStream(TestStream("s")), IsOk());
  engine::StreamDefinition other = TestStream("s");
  other.spec.watermark.max_delay_us = 6 * kSecond;
  const auto refused = tester_.CreateStream(other);
  EXPECT_THAT(refused, HasCode(absl::StatusCode::kAlreadyExists));
  EXPECT_EQ(ReasonOf(refused.status()), engine::kResourceExists);
  const auto detail = engine::GetErrorDetail(refused.status());
  ASSERT_TRUE(detail.has_value());
  EXPECT_EQ(detail->resource, "streams/s");
  EXPECT_THAT(detail->violations, Contains(Field(&engine::FieldViolation::field,
                                                 HasSubstr("max_delay"))));

  ASSERT_THAT(tester_.CreateView("s", TestView("v")), IsOk());
  const auto again = tester_.CreateView("s", TestView("v"));
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->progress.version, 1);
  engine::ViewDefinition view = TestView("v");
  view.spec.window.size_us = kSecond;
  EXPECT_THAT(tester_.CreateView("s", view),
              HasCode(absl::StatusCode::kAlreadyExists));
  view = TestView("v2");
  view.spec.window.size_us = 0;
  EXPECT_THAT(tester_.CreateView("s", view),
              HasCode(absl::StatusCode::kInvalidArgument));
}

TEST_F(RuntimeTest, ValidateOnlyMakesNothing) {
  EXPECT_THAT(tester_.CreateStream(TestStream("s"), true), IsOk());
  EXPECT_THAT(tester_.GetStream("s"), HasCode(absl::StatusCode::kNotFound));
  ASSERT_THAT(tester_.CreateStream(TestStream("s")), IsOk());
  EXPECT_THAT(tester_.CreateView("s", TestView("v"), true), IsOk());
  EXPECT_THAT(tester_.GetView("s", "v"), HasCode(absl::StatusCode::kNotFound));
}

TEST_F(RuntimeTest, WhatIsNotThereIsNamed) {
  const auto name_of = [](const absl::Status& status) {
    EXPECT_THAT(status, HasCode(absl::StatusCode::kNotFound));
    const auto detail = engine::GetErrorDetail(status);
    return detail.has_value() ? detail->resource : "";
  };
  EXPECT_EQ(name_of(tester_.GetStream("s").status()), "streams/s");
  EXPECT_EQ(name_of(tester_.Append("s", 1, {{1, "a"}}).status()), "streams/s");
  EXPECT_EQ(name_of(tester_.runtime->FindStreamSpec("s").status()),
            "streams/s");
  ASSERT_THAT(tester_.CreateStream(TestStream("s")), IsOk());
  EXPECT_EQ(name_of(tester_.GetView("s", "v").status()), "streams/s/views/v");
  EXPECT_EQ(name_of(tester_.OpenLog("s", "v").status()), "streams/s/views/v");
  EXPECT_EQ(name_of(tester_.DeleteView("s", "v")), "streams/s/views/v");
  EXPECT_EQ(name_of(tester_.GetProducer("s", "p").status()),
            "streams/s/producers/p");
}

TEST_F(RuntimeTest, ListsAreById) {
  for (const char* id : {"b", "a", "c"}) {
    ASSERT_THAT(tester_.CreateStream(TestStream(id)), IsOk());
    ASSERT_THAT(tester_.CreateView("b", TestView(id)), IsOk());
  }
  const auto streams = Await<std::vector<StreamInfo>>(
      [&](auto done) { tester_.runtime->ListStreams("a", 1, done); });
  ASSERT_THAT(streams, IsOk());
  ASSERT_THAT(*streams, SizeIs(1));
  EXPECT_EQ(streams->front().definition.id, "b");
  const auto views = Await<std::vector<ViewInfo>>(
      [&](auto done) { tester_.runtime->ListViews("b", "a", 10, done); });
  ASSERT_THAT(views, IsOk());
  ASSERT_THAT(*views, SizeIs(2));
  EXPECT_EQ(views->front().definition.id, "b");
}

TEST_F(RuntimeTest, ARepeatIsAnsweredAsBeforeAndCountedOnce) {
  tester_.MakeStream();
  const auto first = tester_.Append("s", 1, {{1, "a", 5}});
  ASSERT_THAT(first, IsOk());
  const auto repeat = tester_.Append("s", 1, {{1, "a", 5}});
  ASSERT_THAT(repeat, IsOk());
  EXPECT_TRUE(repeat->ack.repeat);
  EXPECT_EQ(repeat->ack.version, first->ack.version);
  const auto reused = tester_.Append("s", 1, {{1, "a", 6}});
  EXPECT_THAT(reused, HasCode(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(ReasonOf(reused.status()), engine::kSequenceReused);
  EXPECT_THAT(tester_.Append("s", 3, {{1, "a", 6}}),
              HasCode(absl::StatusCode::kAborted));
  const auto stream = tester_.GetStream("s");
  ASSERT_THAT(stream, IsOk());
  EXPECT_EQ(stream->accounts.accepted, 1);
  EXPECT_EQ(stream->duplicate_batches, 1);
}

TEST_F(RuntimeTest, AnOlderHolderOfAProducerIsFenced) {
  tester_.MakeStream();
  const auto second = tester_.OpenProducer("s", "p");
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(second->epoch, 2);
  const auto fenced = tester_.Append("s", 1, {{1, "a"}});
  EXPECT_THAT(fenced, HasCode(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(ReasonOf(fenced.status()), engine::kProducerFenced);
}

TEST_F(RuntimeTest, FatesNameViews) {
  tester_.MakeStream();
  ASSERT_THAT(tester_.Append("s", 1, {{30, "a"}}), IsOk());
  AppendOptions options;
  options.fates = true;
  const auto late = tester_.Append("s", 2, {{31, "a"}, {2, "a"}}, options);
  ASSERT_THAT(late, IsOk());
  EXPECT_EQ(late->ack.late, 1);
  ASSERT_THAT(late->fates, SizeIs(1));
  EXPECT_EQ(late->fates[0].index, 1);
  ASSERT_THAT(late->fates[0].in_views, SizeIs(1));
  EXPECT_EQ(late->fates[0].in_views[0].view, "v");
  EXPECT_EQ(late->fates[0].in_views[0].state, engine::FateInView::State::kLate);
}

TEST_F(RuntimeTest, AccountsGoWithTheVersionTheyTell) {
  tester_.MakeStream();
  ASSERT_THAT(tester_.Append("s", 1, {{1, "a"}, {2, "b"}}), IsOk());
  const auto view = tester_.GetView("s", "v");
  ASSERT_THAT(view, IsOk());
  EXPECT_EQ(view->progress.version, 3);
  EXPECT_EQ(view->accounts.counted, 2);
  EXPECT_EQ(view->live_keys, 2);
}

TEST_F(RuntimeTest, EndingAStreamMakesAllFinalOnce) {
  tester_.MakeStream();
  ASSERT_THAT(tester_.Append("s", 1, {{1, "a", 5}}), IsOk());
  const auto ended = tester_.EndStream("s");
  ASSERT_THAT(ended, IsOk());
  EXPECT_TRUE(ended->progress.ended());
  const auto again = tester_.EndStream("s");
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->progress.version, ended->progress.version);
  tester_.WaitForVersion("s", ended->progress.version);
  EXPECT_THAT(tester_.Log(), ElementsAre("v4 FINAL [0,10) a 1 5"));
}

TEST_F(RuntimeTest, AStreamWithViewsIsDeletedByForceOnly) {
  tester_.MakeStream();
  const absl::Status refused = tester_.DeleteStream("s", false);
  EXPECT_THAT(refused, HasCode(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(ReasonOf(refused), engine::kHasViews);
  EXPECT_THAT(tester_.GetStream("s"), IsOk());
  EXPECT_THAT(tester_.DeleteStream("s", true), IsOk());
  EXPECT_THAT(tester_.GetStream("s"), HasCode(absl::StatusCode::kNotFound));
}

TEST_F(RuntimeTest, AStreamThatIsMadeAgainHasAnotherLife) {
  tester_.MakeStream();
  ASSERT_THAT(tester_.Append("s", 1, {{1, "a"}, {30, "a"}}), IsOk());
  const auto old_reader = tester_.OpenLog("s", "v");
  ASSERT_THAT(old_reader, IsOk());
  ASSERT_THAT(tester_.DeleteStream("s", true), IsOk());
  EXPECT_THAT(RuntimeTester::Next(**old_reader),
              HasCode(absl::StatusCode::kNotFound));
  tester_.MakeStream();
  EXPECT_THAT(tester_.Log(), IsEmpty());
  const auto reader = tester_.OpenLog("s", "v");
  ASSERT_THAT(reader, IsOk());
  EXPECT_NE((*reader)->identity().stream_number,
            (*old_reader)->identity().stream_number);
  EXPECT_EQ((*reader)->identity().store_id, tester_.runtime->store_id());
  const auto stream = tester_.GetStream("s");
  ASSERT_THAT(stream, IsOk());
  EXPECT_EQ(stream->accounts.accepted, 0);
}

// Whether it comes before, while or after the stream is deleted: a creation
// never tells that there is no such stream.
TEST_F(RuntimeTest, CreatingMeetsADeletion) {
  for (int round = 0; round < 30; ++round) {
    ASSERT_THAT(tester_.CreateStream(TestStream("s")), IsOk());
    std::promise<absl::Status> deleted, created;
    tester_.runtime->DeleteStream(
        "s", false, [&](absl::Status status) { deleted.set_value(status); });
    tester_.runtime->CreateStream(TestStream("s"), false,
                                  [&](absl::StatusOr<StreamInfo> info) {
                                    created.set_value(info.status());
                                  });
    EXPECT_THAT(created.get_future().get(), IsOk());
    EXPECT_THAT(deleted.get_future().get(), IsOk());
  }
}

TEST_F(RuntimeTest, ADeletedViewIsGoneAndItsNumberIsNotUsedAgain) {
  tester_.MakeStream();
  const auto reader = tester_.OpenLog("s", "v");
  ASSERT_THAT(reader, IsOk());
  ASSERT_THAT(tester_.DeleteView("s", "v"), IsOk());
  EXPECT_THAT(RuntimeTester::Next(**reader),
              HasCode(absl::StatusCode::kNotFound));
  EXPECT_THAT(tester_.GetView("s", "v"), HasCode(absl::StatusCode::kNotFound));
  const auto view = tester_.CreateView("s", TestView("v"));
  ASSERT_THAT(view, IsOk());
  EXPECT_NE(view->number, (*reader)->identity().view_number);
}

TEST_F(RuntimeTest, TooManyStreamsAreRefused) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_THAT(tester_.CreateStream(TestStream(absl::StrCat("s", i))), IsOk());
  }
  const auto refused = tester_.CreateStream(TestStream("t"));
  EXPECT_THAT(refused, HasCode(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(ReasonOf(refused.status()), engine::kQuota);
}

TEST_F(RuntimeTest, BufferedBatchesAreAnsweredAndThenPublished) {
  tester_.MakeStream();
  AppendOptions buffered;
  buffered.durability = Durability::kBuffered;
  engine::Version last = 0;
  for (int i = 1; i <= 20; ++i) {
    const auto ack = tester_.Append("s", i, {{i * 10, "a"}}, buffered);
    ASSERT_THAT(ack, IsOk());
    last = ack->ack.version;
  }
  tester_.WaitForVersion("s", last);
  EXPECT_THAT(tester_.Log(), SizeIs(18));
}

TEST_F(RuntimeTest, TheArrivalIsStampedByTheClock) {
  tester_.MakeStream();
  tester_.clock.Set(100 * kSecond);
  // More than five minutes ahead: held, so it moves no watermark.
  const auto held = tester_.Append("s", 1, {{100'000, "a"}});
  ASSERT_THAT(held, IsOk());
  EXPECT_EQ(held->ack.accepted, 1);
  EXPECT_EQ(held->ack.progress.watermark, engine::kNoWatermark);
  tester_.clock.Set(std::nullopt);
  const auto taken = tester_.Append("s", 2, {{100'000, "a"}});
  ASSERT_THAT(taken, IsOk());
  EXPECT_EQ(taken->ack.progress.watermark, 99'995 * kSecond);
}

TEST(RuntimeOverloadTest, InputBeyondTheQueueIsRefusedWithADelay) {
  RuntimeTester tester;
  tester.options.max_queued_bytes = 1;
  tester.Start();
  tester.MakeStream();
  const auto refused = tester.Append("s", 1, {{1, "a"}});
  EXPECT_THAT(refused, HasCode(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(ReasonOf(refused.status()), engine::kOverloaded);
  EXPECT_TRUE(
      engine::GetErrorDetail(refused.status())->retry_delay_us.has_value());
}

TEST(RuntimeOverloadTest, InputBeyondTheMemoryIsRefusedUntilWindowsClose) {
  RuntimeTester tester;
  tester.options.max_state_bytes = 1 << 20;
  tester.Start();
  tester.MakeStream();
  absl::Status refused;
  int64_t sequence = 0;
  for (int i = 0; refused.ok() && i < 1000; ++i) {
    std::vector<TestEvent> events;
    for (int k = 0; k < 1000; ++k) {
      events.push_back({1, absl::StrCat("key", i, "-", k)});
    }
    refused = tester.Append("s", ++sequence, events).status();
  }
  EXPECT_THAT(refused, HasCode(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(ReasonOf(refused), engine::kOverloaded);
  EXPECT_THAT(tester.GetStream("s"), IsOk());
  // Other streams share the limit; deleting gives the memory back.
  tester.MakeStream("t");
  EXPECT_THAT(tester.Append("t", 1, {{1, "a"}}),
              HasCode(absl::StatusCode::kResourceExhausted));
  ASSERT_THAT(tester.DeleteStream("s", true), IsOk());
  EXPECT_THAT(tester.Append("t", 1, {{1, "a"}}), IsOk());
}

TEST(RuntimeDrainTest, AfterADrainAllIsRefused) {
  RuntimeTester tester;
  tester.Start();
  tester.MakeStream();
  std::vector<ServerState> states;
  tester.runtime->OnStateChange(
      [&](ServerState state) { states.push_back(state); });
  tester.WaitForVersion("s", 2);
  const auto reader = tester.OpenLog("s", "v");
  ASSERT_THAT(reader, IsOk());
  ASSERT_THAT(RuntimeTester::Next(**reader), IsOk());
  bool woken = false;
  (*reader)->WakeOnNews([&] { woken = true; });
  EXPECT_FALSE(woken);
  tester.runtime->Drain();
  EXPECT_TRUE(woken);
  EXPECT_THAT(states, ElementsAre(ServerState::kDraining));
  EXPECT_EQ(tester.runtime->state(), ServerState::kDraining);
  EXPECT_THAT(RuntimeTester::Next(**reader),
              HasCode(absl::StatusCode::kUnavailable));
  const auto refused = tester.Append("s", 1, {{1, "a"}});
  EXPECT_THAT(refused, HasCode(absl::StatusCode::kUnavailable));
  EXPECT_EQ(ReasonOf(refused.status()), engine::kDraining);
}

}  // namespace
}  // namespace casement::runtime
