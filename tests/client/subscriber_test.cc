#include "client/subscriber.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "client/latest_rows.h"
#include "client/status.h"
#include "tests/client/fake_server.h"

namespace casement::client {
namespace {

using ::testing::ElementsAre;

v1::WindowResult Row(int64_t version, const std::string& key,
                     v1::Finality finality = v1::FINALITY_FINAL) {
  v1::WindowResult row;
  row.set_view("streams/s/views/v");
  row.set_revision("1");
  row.mutable_key()->add_parts()->set_string_value(key);
  row.mutable_window()->mutable_start_time()->set_seconds(0);
  row.mutable_window()->mutable_end_time()->set_seconds(60);
  row.set_finality(finality);
  row.set_version(version);
  row.add_values()->set_int64_value(version);
  return row;
}

class SubscriberTest : public ::testing::Test {
 protected:
  SubscriberTest() {
    for (int i = 0; i < 10; ++i) {
      server_.results.log.push_back(Row(i + 1, "k"));
    }
    options_.view = "s/v";
    options_.backoff.initial = absl::Milliseconds(1);
    options_.backoff.most = absl::Milliseconds(20);
  }

  // Gathers versions until there are so many.
  absl::Status Gather(Subscriber& subscriber, size_t count) {
    return subscriber.Run([&](const v1::SubscribeResponse& response) {
      for (const auto& row : response.results().results()) {
        versions_.push_back(row.version());
      }
      return versions_.size() < count;
    });
  }

  FakeServer server_;
  SubscriberOptions options_;
  std::vector<int64_t> versions_;
};

TEST_F(SubscriberTest, HandsOutTheLogFromTheOldest) {
  Subscriber subscriber(server_.channel(), options_);
  ASSERT_TRUE(Gather(subscriber, 10).ok());
  EXPECT_THAT(versions_, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  EXPECT_EQ(subscriber.cursor(), "c10");
}

TEST_F(SubscriberTest, ResumesAfterBreaksWithoutGapOrRepeat) {
  server_.results.results_per_response = 2;
  server_.results.break_after = {1, 2, 4};
  std::vector<bool> connection;
  options_.on_connection = [&connection](const absl::Status& status) {
    connection.push_back(status.ok());
  };
  Subscriber subscriber(server_.channel(), options_);
  ASSERT_TRUE(Gather(subscriber, 10).ok());
  EXPECT_THAT(versions_, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  EXPECT_EQ(subscriber.breaks(), 3);
  EXPECT_THAT(connection, ElementsAre(false, true, false, true, false, true));
}

TEST_F(SubscriberTest, ResumesWhenTheServerIsStoppedAndStartedAgain) {
  Subscriber subscriber(server_.channel(), options_);
  bool restarted = false;
  const absl::Status status =
      subscriber.Run([&](const v1::SubscribeResponse& response) {
        for (const auto& row : response.results().results()) {
          versions_.push_back(row.version());
        }
        if (versions_.size() == 4 && !restarted) {
          restarted = true;
          server_.Stop();
          server_.Start();
        }
        return versions_.size() < 10;
      });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(versions_, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
}

TEST_F(SubscriberTest, GoesOnFromACursorOfAnEarlierLife) {
  {
    Subscriber subscriber(server_.channel(), options_);
    ASSERT_TRUE(Gather(subscriber, 4).ok());
    options_.cursor = subscriber.cursor();
  }
  Subscriber subscriber(server_.channel(), options_);
  ASSERT_TRUE(Gather(subscriber, 10).ok());
  EXPECT_THAT(versions_, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
}

TEST_F(SubscriberTest, FromNowOnGivesOnlyWhatIsNew) {
  options_.position = v1::POSITION_NOW;
  Subscriber subscriber(server_.channel(), options_);
  const absl::Status status =
      subscriber.Run([&](const v1::SubscribeResponse& response) {
        if (response.has_synced()) {
          std::lock_guard<std::mutex> lock(server_.results.mutex);
          server_.results.log.push_back(Row(77, "k"));
        }
        for (const auto& row : response.results().results()) {
          versions_.push_back(row.version());
        }
        return versions_.empty();
      });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(versions_, ElementsAre(77));
}

TEST_F(SubscriberTest, ACursorThatIsNoneIsFinal) {
  options_.cursor = "broken";
  Subscriber subscriber(server_.channel(), options_);
  const absl::Status status = Gather(subscriber, 1);
  EXPECT_EQ(ErrorReason(status), "CURSOR_INVALID") << status;
  EXPECT_EQ(subscriber.breaks(), 0);
}

TEST_F(SubscriberTest, StopEndsARunThatWaits) {
  Subscriber subscriber(server_.channel(), options_);
  std::thread stopper;
  const absl::Status status =
      subscriber.Run([&](const v1::SubscribeResponse& response) {
        if (response.has_synced()) {
          stopper = std::thread([&] { subscriber.Stop(); });
        }
        return true;
      });
  EXPECT_TRUE(status.ok()) << status;
  stopper.join();
}

TEST_F(SubscriberTest, StopEndsARunWhoseServerIsAway) {
  server_.Stop();
  std::thread stopper;
  Subscriber* running = nullptr;
  options_.on_connection = [&](const absl::Status&) {
    if (!stopper.joinable()) stopper = std::thread([&] { running->Stop(); });
  };
  Subscriber subscriber(server_.channel(), options_);
  running = &subscriber;
  EXPECT_TRUE(Gather(subscriber, 1).ok());
  stopper.join();
}

TEST_F(SubscriberTest, GivesUpWhenTheServerStaysAway) {
  server_.Stop();
  options_.give_up_after = absl::Milliseconds(30);
  Subscriber subscriber(server_.channel(), options_);
  EXPECT_TRUE(absl::IsUnavailable(Gather(subscriber, 1)));
}

TEST_F(SubscriberTest, AsksForWhatItWasTold) {
  options_.finalities = {v1::FINALITY_FINAL};
  options_.heartbeat_interval = absl::Milliseconds(1500);
  Subscriber subscriber(server_.channel(), options_);
  ASSERT_TRUE(Gather(subscriber, 1).ok());
  const v1::SubscribeRequest& request = server_.results.requests.at(0);
  EXPECT_EQ(request.view(), "streams/s/views/v");
  EXPECT_THAT(request.finalities(), ElementsAre(v1::FINALITY_FINAL));
  EXPECT_EQ(request.heartbeat_interval().seconds(), 1);
  EXPECT_EQ(request.heartbeat_interval().nanos(), 500'000'000);
}

TEST(LatestRowsTest, TheHighestVersionOfEachIdentityStays) {
  LatestRows rows;
  EXPECT_TRUE(rows.Apply(Row(3, "a")));
  EXPECT_FALSE(rows.Apply(Row(2, "a")));
  EXPECT_TRUE(rows.Apply(Row(1, "b")));
  v1::WindowResult again = Row(3, "a");
  again.mutable_values(0)->set_int64_value(99);
  EXPECT_TRUE(rows.Apply(again));  // The last one among equals.
  EXPECT_EQ(rows.size(), 2);
  EXPECT_EQ(rows.Find(LatestRows::Identity(again))->values(0).int64_value(),
            99);
}

TEST(LatestRowsTest, ARetractedRowIsGoneAndStaysGone) {
  LatestRows rows;
  rows.Apply(Row(1, "a", v1::FINALITY_PROVISIONAL));
  EXPECT_TRUE(rows.Apply(Row(2, "a", v1::FINALITY_RETRACTED)));
  EXPECT_EQ(rows.size(), 0);
  EXPECT_FALSE(rows.Apply(Row(1, "a", v1::FINALITY_PROVISIONAL)));
  EXPECT_EQ(rows.Find(LatestRows::Identity(Row(1, "a"))), nullptr);
  // A session of those very bounds can come back.
  EXPECT_TRUE(rows.Apply(Row(3, "a", v1::FINALITY_PROVISIONAL)));
  EXPECT_EQ(rows.size(), 1);
}

TEST(LatestRowsTest, EveryPartOfTheIdentityCounts) {
  LatestRows rows;
  rows.Apply(Row(1, "a"));
  v1::WindowResult other = Row(1, "a");
  other.set_revision("2");
  rows.Apply(other);
  other = Row(1, "a");
  other.mutable_window()->mutable_end_time()->set_nanos(1000);
  rows.Apply(other);
  other = Row(1, "a");
  other.mutable_window()->clear_end_time();
  rows.Apply(other);
  other = Row(1, "a");
  other.mutable_key()->mutable_parts(0)->Clear();  // The null key.
  rows.Apply(other);
  rows.Apply(Row(1, ""));
  EXPECT_EQ(rows.size(), 6);
}

TEST(LatestRowsTest, AFinalityThatIsUnknownIsIgnored) {
  LatestRows rows;
  EXPECT_FALSE(rows.Apply(Row(1, "a", static_cast<v1::Finality>(77))));
  EXPECT_EQ(rows.size(), 0);
}

TEST(LatestRowsTest, ForgetsWhatHasEnded) {
  LatestRows rows;
  rows.Apply(Row(1, "a"));
  rows.ForgetThrough(59'999'999);
  EXPECT_EQ(rows.size(), 1);
  rows.ForgetThrough(60'000'000);
  EXPECT_EQ(rows.size(), 0);
}

}  // namespace
}  // namespace casement::client
