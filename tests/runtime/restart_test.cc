// What users see is the same after a drain, after a stop without one, and after
// a kill.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "state/database.h"
#include "state/keys.h"
#include "state/marker.h"
#include "tests/runtime/scenario.h"

namespace casement::runtime {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class RestartTest : public ::testing::Test {
 protected:
  void Send(RuntimeTester* tester, int64_t from, int64_t to) {
    for (int64_t i = from; i <= to; ++i) {
      const auto ack = tester->Append("s", i, Batch(i));
      ASSERT_THAT(ack, IsOk());
      last_ = ack->ack.version;
    }
    tester->WaitForVersion("s", last_);
  }

  engine::Version last_ = 0;
};

TEST_F(RestartTest, DrainsAndStopsAreSeenNowhere) {
  constexpr int64_t kBatches = 120;
  const std::vector<std::string> expected = Expected(kBatches);
  ASSERT_GT(expected.size(), 500u);
  for (const bool drain : {true, false}) {
    SCOPED_TRACE(drain);
    RuntimeTester tester;
    tester.Start();
    MakeAll(&tester);
    for (int64_t i = 0; i < kBatches; i += 10) {
      Send(&tester, i + 1, i + 10);
      const std::vector<std::string> before = SeeAll(&tester);
      if (drain || i % 40 == 0) {
        tester.Drain();
      } else {
        tester.Abandon();
      }
      tester.Start();
      ASSERT_EQ(SeeAll(&tester), before);
    }
    EXPECT_EQ(SeeAll(&tester), expected);
  }
}

TEST_F(RestartTest, CheckpointsInBetweenAreSeenNowhere) {
  constexpr int64_t kBatches = 200;
  RuntimeTester tester;
  tester.options.checkpoint_bytes = 3000;
  tester.start_options.store.segment_bytes = 2000;
  tester.Start();
  MakeAll(&tester);
  for (int64_t i = 0; i < kBatches; i += 50) {
    Send(&tester, i + 1, i + 50);
    tester.Abandon();
    tester.Start();
  }
  EXPECT_EQ(SeeAll(&tester), Expected(kBatches));
  // The journal is cut: what is left is little.
  EXPECT_LT(
      state::FilesEndingIn(tester.options.data_dir + "/journal", ".log").size(),
      20u);
}

TEST_F(RestartTest, RepeatsAreKnownAfterAStop) {
  RuntimeTester tester;
  tester.Start();
  MakeAll(&tester);
  Send(&tester, 1, 10);
  const engine::Version version = last_;
  for (const bool drain : {true, false}) {
    drain ? tester.Drain() : tester.Abandon();
    tester.Start();
    const auto repeat = tester.Append("s", 10, Batch(10));
    ASSERT_THAT(repeat, IsOk());
    EXPECT_TRUE(repeat->ack.repeat);
    EXPECT_EQ(repeat->ack.version, version);
    EXPECT_THAT(tester.Append("s", 10, Batch(11)),
                HasCode(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(tester.Append("s", 12, Batch(12)),
                HasCode(absl::StatusCode::kAborted));
  }
}

TEST_F(RestartTest, APositionIsGoodAfterAStop) {
  RuntimeTester tester;
  tester.Start();
  MakeAll(&tester);
  Send(&tester, 1, 40);
  const auto reader = tester.OpenLog("s", "sliding");
  ASSERT_THAT(reader, IsOk());
  const auto chunk = RuntimeTester::Next(**reader, 2000);
  ASSERT_THAT(chunk, IsOk());
  const LogPosition position = chunk->position;
  const auto rest_after = [&] {
    std::vector<std::string> rest;
    const auto resumed =
        tester.OpenLog("s", "sliding", {LogStart::Kind::kAfter, position});
    EXPECT_THAT(resumed, IsOk());
    const auto next = RuntimeTester::Next(**resumed, 1 << 30);
    EXPECT_THAT(next, IsOk());
    for (const auto& result : next->results) rest.push_back(Text(result));
    return rest;
  };
  const std::vector<std::string> before = rest_after();
  EXPECT_FALSE(before.empty());
  tester.Abandon();
  tester.Start();
  EXPECT_EQ(rest_after(), before);
  tester.Drain();
  tester.Start();
  EXPECT_EQ(rest_after(), before);
}

TEST_F(RestartTest, DeletedThingsStayDeleted) {
  RuntimeTester tester;
  tester.Start();
  MakeAll(&tester);
  Send(&tester, 1, 30);
  ASSERT_THAT(tester.DeleteView("s", "v"), IsOk());
  tester.MakeStream("t");
  ASSERT_THAT(tester.Append("t", 1, {{1, "a"}, {50, "a"}}), IsOk());
  ASSERT_THAT(tester.DeleteStream("t", true), IsOk());
  for (int round = 0; round < 3; ++round) {
    round == 1 ? tester.Drain() : tester.Abandon();
    tester.Start();
    EXPECT_THAT(tester.GetStream("t"), HasCode(absl::StatusCode::kNotFound));
    EXPECT_THAT(tester.GetView("s", "v"), HasCode(absl::StatusCode::kNotFound));
    EXPECT_THAT(tester.GetView("s", "sliding"), IsOk());
  }
  // A new life has nothing of the old one.
  tester.MakeStream("t");
  EXPECT_THAT(tester.Log("t"), IsEmpty());
  ASSERT_THAT(tester.CreateView("s", TestView("v")), IsOk());
  EXPECT_THAT(tester.Log("s"), IsEmpty());
}

// Once all is purged and the journal is cut, nothing of a deleted stream or
// view is in the state database.
TEST_F(RestartTest, DeletedThingsLeaveNothingBehind) {
  RuntimeTester tester;
  tester.Start();
  MakeAll(&tester);
  Send(&tester, 1, 60);
  ASSERT_THAT(tester.DeleteView("s", "sliding"), IsOk());
  ASSERT_THAT(tester.DeleteStream("s", true), IsOk());
  tester.Drain();
  const auto directory = state::Directory::Open(tester.options.data_dir);
  ASSERT_THAT(directory, IsOk());
  const auto store =
      state::Store::Open(directory->get(), state::StoreOptions());
  ASSERT_THAT(store, IsOk());
  for (bool more = true; more;) {
    const auto purged = (*store)->PurgeSome();
    ASSERT_THAT(purged, IsOk());
    more = *purged;
  }
  const auto iterator = (*store)->database().NewIterator();
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    const char table = iterator->key()[0];
    EXPECT_TRUE(table == 'm' || table == 'd') << table;
  }
}

// A store whose results are not those that its journal gives is not served; the
// other streams are.
TEST_F(RestartTest, AResultThatTheJournalDoesNotGiveIsDataLoss) {
  RuntimeTester tester;
  tester.Start();
  MakeAll(&tester);
  tester.MakeStream("t");
  Send(&tester, 1, 30);
  tester.Abandon();
  {
    state::DatabaseOptions options;
    const auto database =
        state::Database::Open(tester.options.data_dir + "/state", options);
    ASSERT_THAT(database, IsOk());
    const auto iterator = (*database)->NewIterator();
    iterator->Seek("l");
    ASSERT_TRUE(iterator->Valid());
    std::string value = iterator->value().ToString();
    value.back() ^= 1;
    leveldb::WriteBatch batch;
    batch.Put(iterator->key(), value);
    ASSERT_THAT((*database)->Write(&batch, true), IsOk());
  }
  tester.Start();
  const auto broken = tester.GetStream("s");
  EXPECT_THAT(broken, HasCode(absl::StatusCode::kDataLoss));
  EXPECT_EQ(ReasonOf(broken.status()), engine::kStoreCorrupt);
  EXPECT_THAT(std::string(broken.status().message()), HasSubstr("streams/s"));
  EXPECT_THAT(std::string(broken.status().message()), HasSubstr("record"));
  EXPECT_THAT(tester.Append("s", 31, Batch(31)),
              HasCode(absl::StatusCode::kDataLoss));
  EXPECT_THAT(tester.OpenLog("s", "v"), HasCode(absl::StatusCode::kDataLoss));
  EXPECT_THAT(tester.Append("t", 1, {{1, "a"}}), IsOk());
  // A drain keeps the journal, so that nothing is lost for good.
  tester.Drain();
  tester.Start();
  EXPECT_THAT(tester.GetStream("s"), HasCode(absl::StatusCode::kDataLoss));
  EXPECT_THAT(tester.DeleteStream("s", true), IsOk());
  tester.MakeStream();
}

// A log that has lost its tail (it was not synced) is written again.
TEST_F(RestartTest, ResultsThatAreMissingAreWrittenAgain) {
  RuntimeTester tester;
  tester.Start();
  MakeAll(&tester);
  Send(&tester, 1, 60);
  const std::vector<std::string> before = SeeAll(&tester);
  tester.Abandon();
  {
    const auto database = state::Database::Open(
        tester.options.data_dir + "/state", state::DatabaseOptions());
    ASSERT_THAT(database, IsOk());
    const auto iterator = (*database)->NewIterator();
    leveldb::WriteBatch batch;
    int at = 0;
    for (const char* table : {"l", "r", "t", "p"}) {
      for (iterator->Seek(table);
           iterator->Valid() && iterator->key().starts_with(table);
           iterator->Next()) {
        if (++at % 2 == 0) batch.Delete(iterator->key());
      }
    }
    ASSERT_THAT((*database)->Write(&batch, true), IsOk());
  }
  tester.Start();
  EXPECT_EQ(SeeAll(&tester), before);
}

TEST_F(RestartTest, AStoreInUseIsRefused) {
  RuntimeTester tester;
  tester.Start();
  RuntimeTester second;
  second.options.data_dir = tester.options.data_dir;
  const absl::Status refused = second.TryStart();
  EXPECT_EQ(state::GetOpenError(refused), state::OpenError::kInUse);
  tester.MakeStream();
}

// -- Kills

constexpr char kChildDir[] = "CASEMENT_RESTART_TEST_DIR";

// Not a test: what the child process of the next one does until it is killed.
// It tells each batch that was acknowledged on its standard output.
TEST(RestartChild, Run) {
  const char* dir = getenv(kChildDir);
  if (dir == nullptr) return;  // run by hand: nobody's child
  RuntimeTester tester;
  tester.options.data_dir = dir;
  tester.options.checkpoint_bytes = 20'000;
  tester.start_options.store.segment_bytes = 10'000;
  tester.Start();
  // Each step may have been done before a kill.
  ASSERT_THAT(tester.CreateStream(TestStream("s")), IsOk());
  ASSERT_THAT(tester.CreateView("s", TestView("v")), IsOk());
  if (!tester.GetProducer("s", "p").ok()) {
    ASSERT_THAT(tester.OpenProducer("s", "p"), IsOk());
  }
  ASSERT_THAT(tester.CreateView("s", SlidingView()), IsOk());
  ASSERT_THAT(tester.CreateView("s", SessionView()), IsOk());
  const auto producer = tester.GetProducer("s", "p");
  ASSERT_THAT(producer, IsOk());
  for (int64_t i = producer->last_sequence + 1;; ++i) {
    ASSERT_THAT(tester.Append("s", i, Batch(i)), IsOk());
    const std::string line = absl::StrCat(i, "\n");
    ASSERT_EQ(write(3, line.data(), line.size()),
              static_cast<ssize_t>(line.size()));
  }
}

// Starts the child, lets it have `acks` batches acknowledged, and kills it. The
// last that it told.
int64_t RunAndKill(const std::string& dir, int64_t acks) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 3);
    const int null = open("/dev/null", O_WRONLY);
    dup2(null, 1);
    setenv(kChildDir, dir.c_str(), 1);
    execl("/proc/self/exe", "child", "--gtest_filter=RestartChild.Run",
          nullptr);
    _exit(1);
  }
  close(ends[1]);
  std::string text;
  int64_t lines = 0;
  char byte = 0;
  while (lines < acks && read(ends[0], &byte, 1) == 1) {
    text.push_back(byte);
    if (byte == '\n') ++lines;
  }
  kill(child, SIGKILL);
  while (read(ends[0], &byte, 1) == 1) text.push_back(byte);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
  int64_t last = 0;
  std::string line;
  for (const char c : text) {
    if (c != '\n') {
      line.push_back(c);
      continue;
    }
    EXPECT_TRUE(absl::SimpleAtoi(line, &last));
    line.clear();
  }
  return last;
}

TEST_F(RestartTest, KillsLoseNothingThatWasAcknowledged) {
  state::TempDir dir;
  std::mt19937 random(7);
  int64_t acknowledged = 0;
  for (int round = 0; round < 12; ++round) {
    acknowledged =
        std::max(acknowledged, RunAndKill(dir / "data", 1 + random() % 60));
  }
  RuntimeTester tester;
  tester.options.data_dir = dir / "data";
  tester.Start();
  const auto producer = tester.GetProducer("s", "p");
  ASSERT_THAT(producer, IsOk());
  EXPECT_GE(producer->last_sequence, acknowledged);
  EXPECT_LE(producer->last_sequence, acknowledged + 1);
  EXPECT_EQ(SeeAll(&tester), Expected(producer->last_sequence));
}

}  // namespace
}  // namespace casement::runtime
