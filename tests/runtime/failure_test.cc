// Writes that fail: what was acknowledged is there once, what was refused can
// be sent again, and the runtime comes back by itself when the disk does.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "state/fault_env.h"
#include "tests/runtime/scenario.h"

namespace casement::runtime {
namespace {

class FailureTest : public ::testing::Test {
 protected:
  FailureTest() {
    tester_.start_options.store.env = &env_;
    tester_.start_options.reopen_every = std::chrono::milliseconds(1);
  }

  void Start() {
    tester_.Start();
    tester_.runtime->OnStateChange([this](ServerState state) {
      std::lock_guard<std::mutex> lock(mutex_);
      states_.push_back(state);
      changed_.notify_all();
    });
  }

  // Until it has changed to `state` since the last call.
  void WaitFor(ServerState state) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] {
      return std::find(states_.begin(), states_.end(), state) != states_.end();
    });
    states_.clear();
  }

  // Sends batches until one is refused or `to` is reached; the last taken.
  int64_t SendUntilRefused(int64_t from, int64_t to) {
    for (int64_t i = from; i <= to; ++i) {
      const auto ack = tester_.Append("s", i, Batch(i));
      if (!ack.ok()) {
        EXPECT_THAT(ack, HasCode(absl::StatusCode::kUnavailable));
        EXPECT_EQ(ReasonOf(ack.status()), engine::kReadOnly);
        const auto detail = engine::GetErrorDetail(ack.status());
        EXPECT_TRUE(detail.has_value() && detail->retry_delay_us.has_value());
        return i - 1;
      }
      last_version_ = ack->ack.version;
    }
    return to;
  }

  state::FaultEnv env_;
  RuntimeTester tester_;
  engine::Version last_version_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<ServerState> states_;
};

constexpr int64_t kBatches = 20;

// From every k-th operation on the disk is full, until it is freed.
TEST_F(FailureTest, AFullDiskIsSeenNowhereAfterwards) {
  const std::vector<std::string> expected = Expected(kBatches);
  bool none_failed = false;
  for (int64_t k = 0; !none_failed; k += 1 + k / 12) {
    SCOPED_TRACE(k);
    std::filesystem::remove_all(tester_.options.data_dir);
    tester_.options.checkpoint_bytes = 2000;
    tester_.start_options.store.segment_bytes = 1000;
    Start();
    MakeAll(&tester_);
    env_.FailAfter(k);
    const int64_t taken = SendUntilRefused(1, kBatches);
    none_failed = taken == kBatches && !env_.has_failed();
    if (taken < kBatches) {
      WaitFor(ServerState::kReadOnly);
      EXPECT_EQ(SendUntilRefused(taken + 1, taken + 1), taken)
          << "taken on a full disk";
      env_.Heal();
      WaitFor(ServerState::kServing);
      // The one that was refused may be there whole: then it is a repeat.
      ASSERT_EQ(SendUntilRefused(taken + 1, kBatches), kBatches);
    }
    env_.Heal();
    // A failure in the background may come to light only now.
    while (!tester_
                .ListWindows("s", "v",
                             [&] {
                               ListWindowsQuery query;
                               query.min_version = last_version_;
                               return query;
                             }())
                .ok()) {
    }
    ASSERT_EQ(SeeAll(&tester_), expected);
    tester_.Drain();
    tester_.Start();
    ASSERT_EQ(SeeAll(&tester_), expected);
    tester_.Drain();
  }
}

TEST_F(FailureTest, AFailedSyncIsSeenNowhereAfterwards) {
  const std::vector<std::string> expected = Expected(kBatches);
  for (int64_t k = 0; k < 12; ++k) {
    SCOPED_TRACE(k);
    std::filesystem::remove_all(tester_.options.data_dir);
    Start();
    MakeAll(&tester_);
    env_.FailSyncsAfter(k);
    const int64_t taken = SendUntilRefused(1, kBatches);
    ASSERT_LT(taken, kBatches);
    env_.Heal();
    WaitFor(ServerState::kServing);
    ASSERT_EQ(SendUntilRefused(taken + 1, kBatches), kBatches);
    tester_.WaitForVersion("s", last_version_);
    EXPECT_EQ(SeeAll(&tester_), expected);
    tester_.Abandon();
  }
}

TEST_F(FailureTest, ReadersAndWaitersAreTold) {
  Start();
  MakeAll(&tester_);
  const auto reader = tester_.OpenLog("s", "v", {LogStart::Kind::kNow, {}});
  ASSERT_THAT(reader, IsOk());
  std::promise<void> woken;
  (*reader)->WakeOnNews([&] { woken.set_value(); });
  ListWindowsQuery query;
  query.min_version = 1000;
  std::promise<absl::Status> waiter;
  tester_.runtime->ListWindows("s", "v", query, nullptr,
                               [&](absl::StatusOr<WindowPage> page) {
                                 waiter.set_value(page.status());
                               });
  env_.FailAfter(0);
  EXPECT_EQ(SendUntilRefused(1, 1), 0);
  woken.get_future().wait();
  EXPECT_THAT(RuntimeTester::Next(**reader),
              HasCode(absl::StatusCode::kUnavailable));
  EXPECT_THAT(waiter.get_future().get(),
              HasCode(absl::StatusCode::kUnavailable));
  EXPECT_THAT(tester_.GetStream("s"), HasCode(absl::StatusCode::kUnavailable));
  EXPECT_THAT(tester_.runtime->FindStreamSpec("s").status(),
              HasCode(absl::StatusCode::kUnavailable));
  EXPECT_THAT(tester_.CreateStream(TestStream("t")),
              HasCode(absl::StatusCode::kUnavailable));
  env_.Heal();
  WaitFor(ServerState::kServing);
  // The old reader stays ended; a new one goes on at its place.
  EXPECT_THAT(RuntimeTester::Next(**reader),
              HasCode(absl::StatusCode::kUnavailable));
  EXPECT_THAT(tester_.OpenLog("s", "v",
                              {LogStart::Kind::kAfter, (*reader)->position()}),
              IsOk());
}

TEST_F(FailureTest, ADrainOnAFullDiskEnds) {
  Start();
  MakeAll(&tester_);
  ASSERT_EQ(SendUntilRefused(1, 5), 5);
  env_.FailAfter(0);
  EXPECT_EQ(SendUntilRefused(6, 6), 5);
  tester_.Drain();
  env_.Heal();
  tester_.Start();
  EXPECT_EQ(tester_.GetProducer("s", "p")->last_sequence, 5);
}

// The power goes: what was acknowledged as synced is there, and what is seen is
// what the same batches give.
TEST_F(FailureTest, APowerCutTakesNothingThatWasAcknowledged) {
  tester_.options.checkpoint_bytes = 3000;
  tester_.start_options.store.segment_bytes = 1500;
  tester_.start_options.store.state_buffer_bytes = 64 << 10;
  int64_t sent = 0;
  for (int round = 0; round < 6; ++round) {
    SCOPED_TRACE(round);
    Start();
    if (round == 0) MakeAll(&tester_);
    const int64_t next = sent + 15 + 7 * round;
    ASSERT_EQ(SendUntilRefused(sent + 1, next), next);
    sent = next;
    tester_.Abandon();
    env_.DropUnsynced();
  }
  tester_.Start();
  EXPECT_EQ(SeeAll(&tester_), Expected(sent));
}

// What a start found unsynced and showed is safe from then on.
TEST_F(FailureTest, APowerCutTakesNothingThatAStartHasShown) {
  Start();
  MakeAll(&tester_);
  tester_.options.buffered_sync_us = int64_t{3600} * kSecond;
  tester_.Drain();
  Start();
  AppendOptions buffered;
  buffered.durability = Durability::kBuffered;
  for (int64_t i = 1; i <= 10; ++i) {
    ASSERT_THAT(tester_.Append("s", i, Batch(i), buffered), IsOk());
  }
  tester_.Abandon();
  Start();
  const std::vector<std::string> shown = SeeAll(&tester_);
  tester_.Abandon();
  env_.DropUnsynced();
  Start();
  EXPECT_EQ(SeeAll(&tester_), shown);
  EXPECT_EQ(tester_.GetProducer("s", "p")->last_sequence, 10);
}

TEST_F(FailureTest, BufferedBatchesSurviveTheProcess) {
  Start();
  MakeAll(&tester_);
  tester_.options.buffered_sync_us = int64_t{3600} * kSecond;
  tester_.Drain();
  Start();
  AppendOptions buffered;
  buffered.durability = Durability::kBuffered;
  for (int64_t i = 1; i <= 10; ++i) {
    ASSERT_THAT(tester_.Append("s", i, Batch(i), buffered), IsOk());
  }
  const auto head = tester_.OpenLog("s", "v");
  ASSERT_THAT(head, IsOk());
  EXPECT_EQ((*head)->head_progress().version, 4) << "published before a sync";
  tester_.Abandon();
  tester_.Start();
  EXPECT_EQ(tester_.GetProducer("s", "p")->last_sequence, 10);
}

}  // namespace
}  // namespace casement::runtime
