// Following a view's results, and listing its windows.
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/runtime_tester.h"

namespace casement::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class LogReaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    tester_.Start();
    tester_.MakeStream();
  }

  // One event in each of these windows of ten seconds, one batch each.
  void Fill(int from, int to) {
    for (int i = from; i <= to; ++i) {
      const auto ack = tester_.Append("s", i, {{i * 10, "a", i}});
      ASSERT_THAT(ack, IsOk());
      last_ = ack->ack.version;
    }
    tester_.WaitForVersion("s", last_);
  }

  // One batch that closes a window with this many keys.
  void CloseManyKeys(int keys) {
    std::vector<TestEvent> events;
    for (int i = 0; i < keys; ++i) {
      events.push_back({1, absl::StrCat("key", 100000 + i)});
    }
    ASSERT_THAT(tester_.Append("s", 1, events), IsOk());
    const auto ack = tester_.Append("s", 2, {{30, "z"}});
    ASSERT_THAT(ack, IsOk());
    last_ = ack->ack.version;
    tester_.WaitForVersion("s", last_);
  }

  static std::vector<std::string> TextsOf(const LogChunk& chunk) {
    std::vector<std::string> texts;
    for (const engine::Result& result : chunk.results) {
      texts.push_back(Text(result));
    }
    return texts;
  }

  RuntimeTester tester_;
  engine::Version last_ = 0;
};

TEST_F(LogReaderTest, NowBeginsAtTheHeadAndSeesWhatComes) {
  Fill(1, 5);
  const auto reader = tester_.OpenLog("s", "v", {LogStart::Kind::kNow, {}});
  ASSERT_THAT(reader, IsOk());
  EXPECT_EQ((*reader)->position().version, last_);
  EXPECT_EQ((*reader)->head_progress().version, last_);
  auto chunk = RuntimeTester::Next(**reader);
  ASSERT_THAT(chunk, IsOk());
  EXPECT_THAT(chunk->results, IsEmpty());
  EXPECT_TRUE(chunk->caught_up);
  EXPECT_EQ(chunk->served_version, last_);
  Fill(6, 6);
  chunk = RuntimeTester::Next(**reader);
  ASSERT_THAT(chunk, IsOk());
  EXPECT_THAT(TextsOf(*chunk), ElementsAre("v8 FINAL [40,50) a 1 4"));
  EXPECT_EQ(chunk->progress.version, last_);
  EXPECT_EQ(chunk->progress.watermark, 55 * kSecond);
}

TEST_F(LogReaderTest, ServedMovesAlsoWhereNothingComesOut) {
  const auto reader = tester_.OpenLog("s", "v");
  ASSERT_THAT(reader, IsOk());
  ASSERT_THAT(tester_.Append("s", 1, {{1, "a"}}), IsOk());
  ASSERT_THAT(tester_.Append("s", 2, {{2, "a"}}), IsOk());
  tester_.WaitForVersion("s", 4);
  const auto chunk = RuntimeTester::Next(**reader);
  ASSERT_THAT(chunk, IsOk());
  EXPECT_THAT(chunk->results, IsEmpty());
  EXPECT_EQ(chunk->served_version, 4);
}

// From each position that was ever handed out the rest follows, whatever the
// size of the chunks.
TEST_F(LogReaderTest, EveryPositionGoesOnWhereItWas) {
  CloseManyKeys(3000);
  const std::vector<std::string> all = tester_.Log();
  ASSERT_THAT(all, SizeIs(3000));
  const auto reader = tester_.OpenLog("s", "v");
  ASSERT_THAT(reader, IsOk());
  std::vector<std::string> seen;
  bool split = false;
  while (true) {
    const auto chunk = RuntimeTester::Next(**reader, 5000);
    ASSERT_THAT(chunk, IsOk());
    for (const std::string& text : TextsOf(*chunk)) seen.push_back(text);
    if (chunk->partial_version) {
      split = true;
      EXPECT_EQ(chunk->served_version, last_ - 1);
      EXPECT_FALSE(chunk->caught_up);
    }
    const auto resumed =
        tester_.OpenLog("s", "v", {LogStart::Kind::kAfter, chunk->position});
    ASSERT_THAT(resumed, IsOk());
    const auto rest = RuntimeTester::Next(**resumed, 1 << 30);
    ASSERT_THAT(rest, IsOk());
    ASSERT_THAT(TextsOf(*rest),
                ElementsAreArray(all.begin() + seen.size(), all.end()));
    if (chunk->caught_up) break;
  }
  EXPECT_TRUE(split);
  EXPECT_EQ(seen, all);
}

TEST_F(LogReaderTest, EveryIndexOfAVersionCanBeSought) {
  CloseManyKeys(700);
  const std::vector<std::string> all = tester_.Log();
  for (int64_t index = -1; index <= 700; ++index) {
    const auto reader =
        tester_.OpenLog("s", "v", {LogStart::Kind::kAfter, {last_, index}});
    ASSERT_THAT(reader, IsOk());
    const auto chunk = RuntimeTester::Next(**reader, 1);
    ASSERT_THAT(chunk, IsOk());
    if (index + 1 < 700) {
      ASSERT_THAT(TextsOf(*chunk), ElementsAre(all[index + 1])) << index;
    } else {
      EXPECT_THAT(chunk->results, IsEmpty());
      EXPECT_TRUE(chunk->caught_up);
    }
  }
}

TEST_F(LogReaderTest, APositionBeyondTheHeadIsRefused) {
  Fill(1, 3);
  for (const LogPosition& position :
       {LogPosition{last_ + 1, -1}, LogPosition{last_ + 7, 0},
        LogPosition{-1, 0}, LogPosition{1, -2}}) {
    const auto reader =
        tester_.OpenLog("s", "v", {LogStart::Kind::kAfter, position});
    EXPECT_THAT(reader, HasCode(absl::StatusCode::kInvalidArgument));
    EXPECT_EQ(ReasonOf(reader.status()), engine::kCursorInvalid);
  }
}

TEST_F(LogReaderTest, FiltersByFinality) {
  engine::ViewDefinition early = TestView("early");
  early.spec.trigger.early_every_batch = true;
  ASSERT_THAT(tester_.CreateView("s", early), IsOk());
  Fill(1, 4);
  FinalityFilter finals;
  finals.all = false;
  finals.allowed[static_cast<int>(engine::Finality::kFinal)] = true;
  const auto reader =
      tester_.OpenLog("s", "early", {LogStart::Kind::kOldest, {}}, finals);
  ASSERT_THAT(reader, IsOk());
  const auto chunk = RuntimeTester::Next(**reader);
  ASSERT_THAT(chunk, IsOk());
  EXPECT_THAT(TextsOf(*chunk),
              ElementsAre("v6 FINAL [10,20) a 1 1", "v7 FINAL [20,30) a 1 2"));
  EXPECT_GT(tester_.Log("s", "early").size(), 4u);
}

TEST_F(LogReaderTest, AViewMadeInTheMiddleBeginsThere) {
  Fill(1, 5);
  ASSERT_THAT(tester_.CreateView("s", TestView("w")), IsOk());
  EXPECT_THAT(tester_.Log("s", "w"), IsEmpty());
  Fill(6, 8);
  EXPECT_FALSE(tester_.Log("s", "w").empty());
}

TEST_F(LogReaderTest, AWakeComesOnceAndOnlyForNews) {
  Fill(1, 2);
  const auto reader = tester_.OpenLog("s", "v");
  ASSERT_THAT(reader, IsOk());
  int wakes = 0;
  (*reader)->WakeOnNews([&] { ++wakes; });
  EXPECT_EQ(wakes, 1) << "there was something already";
  ASSERT_THAT(RuntimeTester::Next(**reader), IsOk());
  std::promise<void> woken;
  (*reader)->WakeOnNews([&] {
    ++wakes;
    woken.set_value();
  });
  EXPECT_EQ(wakes, 1);
  Fill(3, 3);
  woken.get_future().wait();
  Fill(4, 5);
  EXPECT_EQ(wakes, 2);
}

TEST_F(LogReaderTest, AReplacedWakeDoesNotRun) {
  const auto reader = tester_.OpenLog("s", "v", {LogStart::Kind::kNow, {}});
  ASSERT_THAT(reader, IsOk());
  std::atomic<int> first = 0;
  std::promise<void> second;
  (*reader)->WakeOnNews([&] { ++first; });
  (*reader)->WakeOnNews([&] { second.set_value(); });
  Fill(1, 1);
  second.get_future().wait();
  (*reader)->WakeOnNews([&] { ++first; });
  first = 0;  // it may have come at once
  (*reader)->WakeOnNews(nullptr);
  const int before = first;
  Fill(2, 3);
  EXPECT_EQ(first, before);
}

TEST_F(LogReaderTest, DeletionWakes) {
  const auto of_view = tester_.OpenLog("s", "v", {LogStart::Kind::kNow, {}});
  ASSERT_THAT(of_view, IsOk());
  std::promise<void> woken;
  (*of_view)->WakeOnNews([&] { woken.set_value(); });
  ASSERT_THAT(tester_.DeleteView("s", "v"), IsOk());
  woken.get_future().wait();
}

// Writers, readers that follow by wakes, and wakes that are replaced all the
// time: every reader gets everything, and no replaced wake runs.
TEST_F(LogReaderTest, FollowersGetAllUnderStress) {
  constexpr int kBatches = 300;
  constexpr int kReaders = 4;
  std::vector<std::vector<std::string>> seen(kReaders);
  std::vector<std::thread> threads;
  for (int r = 0; r < kReaders; ++r) {
    threads.emplace_back([&, r] {
      const auto reader = tester_.OpenLog("s", "v");
      ASSERT_THAT(reader, IsOk());
      while (true) {
        const auto chunk = RuntimeTester::Next(**reader, 200);
        ASSERT_THAT(chunk, IsOk());
        for (const std::string& text : TextsOf(*chunk)) {
          seen[r].push_back(text);
        }
        if (chunk->caught_up && chunk->progress.ended()) return;
        if (!chunk->caught_up) continue;
        auto replaced = std::make_shared<std::atomic<bool>>(false);
        (*reader)->WakeOnNews([replaced] { EXPECT_FALSE(*replaced); });
        std::promise<void> woken;
        (*reader)->WakeOnNews([&] { woken.set_value(); });
        *replaced = true;
        woken.get_future().wait();
      }
    });
  }
  for (int i = 1; i <= kBatches; ++i) {
    ASSERT_THAT(tester_.Append("s", i, {{i * 3, "a"}, {i * 3, "b"}}), IsOk());
  }
  ASSERT_THAT(tester_.EndStream("s"), IsOk());
  for (std::thread& thread : threads) thread.join();
  const std::vector<std::string> all = tester_.Log();
  EXPECT_GT(all.size(), 150u);
  for (const auto& each : seen) EXPECT_EQ(each, all);
}

// -- Listings

TEST_F(LogReaderTest, ListsFinalRowsInPages) {
  CloseManyKeys(25);
  ListWindowsQuery query;
  const std::vector<std::string> all = tester_.Windows(query);
  EXPECT_EQ(all, tester_.Log());
  for (const int size : {1, 4, 25, 26}) {
    query.max_results = size;
    EXPECT_EQ(tester_.Windows(query), all) << size;
  }
  query.max_results = 100;
  query.max_bytes = 1;
  EXPECT_EQ(tester_.Windows(query), all);
}

TEST_F(LogReaderTest, ListsOpenWindowsAfterFinalOnes) {
  ASSERT_THAT(tester_.Append("s", 1, {{1, "a"}, {2, "b"}}), IsOk());
  ASSERT_THAT(tester_.Append("s", 2, {{15, "a"}, {16, "c"}, {21, "a"}}),
              IsOk());
  ListWindowsQuery query;
  query.min_version = 4;
  query.open_windows = true;
  const std::vector<std::string> expected = {
      "v4 FINAL [0,10) a 1 1", "v4 FINAL [0,10) b 1 1",
      "v4 PROVISIONAL [10,20) a 1 1", "v4 PROVISIONAL [10,20) c 1 1",
      "v4 PROVISIONAL [20,30) a 1 1"};
  for (const int size : {1, 2, 3, 4, 5, 100}) {
    query.max_results = size;
    EXPECT_EQ(tester_.Windows(query), expected) << size;
  }
  query.final_rows = false;
  for (const int size : {1, 2, 100}) {
    query.max_results = size;
    EXPECT_THAT(tester_.Windows(query),
                ElementsAreArray(expected.begin() + 2, expected.end()))
        << size;
  }
}

TEST_F(LogReaderTest, PagesOfFinalRowsShowTheFirstPagesVersion) {
  CloseManyKeys(10);
  ListWindowsQuery query;
  query.max_results = 4;
  auto page = tester_.ListWindows("s", "v", query);
  ASSERT_THAT(page, IsOk());
  ASSERT_TRUE(page->next.has_value());
  const auto more = tester_.Append("s", 3, {{60, "a"}});
  ASSERT_THAT(more, IsOk());
  tester_.WaitForVersion("s", more->ack.version);
  size_t rows = page->results.size();
  while (page->next.has_value()) {
    query.after = *page->next;
    page = tester_.ListWindows("s", "v", query);
    ASSERT_THAT(page, IsOk());
    rows += page->results.size();
  }
  EXPECT_EQ(rows, 10u);
  EXPECT_THAT(tester_.Windows(ListWindowsQuery()), SizeIs(11));
}

TEST_F(LogReaderTest, WaitsForTheLeastVersion) {
  auto answer = std::make_shared<std::promise<absl::StatusOr<WindowPage>>>();
  auto future = answer->get_future();
  ListWindowsQuery query;
  query.min_version = 4;
  tester_.runtime->ListWindows(
      "s", "v", query, [] { return false; },
      [answer](absl::StatusOr<WindowPage> page) {
        answer->set_value(std::move(page));
      });
  ASSERT_THAT(tester_.Append("s", 1, {{1, "a"}}), IsOk());
  ASSERT_THAT(tester_.Append("s", 2, {{30, "a"}}), IsOk());
  const auto page = future.get();
  ASSERT_THAT(page, IsOk());
  EXPECT_THAT(page->results, SizeIs(1));
  EXPECT_GE(page->progress.version, 4);
}

TEST_F(LogReaderTest, AWaitEndsWhenItIsCancelledOrTheRuntimeDrains) {
  const auto wait = [&](bool cancelled) {
    auto answer = std::make_shared<std::promise<absl::StatusOr<WindowPage>>>();
    ListWindowsQuery query;
    query.min_version = 1000;
    tester_.runtime->ListWindows(
        "s", "v", query, [cancelled] { return cancelled; },
        [answer](absl::StatusOr<WindowPage> page) {
          answer->set_value(std::move(page));
        });
    return answer->get_future();
  };
  auto cancelled = wait(true);
  auto drained = wait(false);
  ASSERT_THAT(tester_.Append("s", 1, {{1, "a"}}), IsOk());
  EXPECT_THAT(cancelled.get(), HasCode(absl::StatusCode::kCancelled));
  tester_.runtime->Drain();
  EXPECT_THAT(drained.get(), HasCode(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace casement::runtime
