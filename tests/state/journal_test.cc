#include "state/journal.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "state/fault_env.h"
#include "tests/state/test_util.h"

namespace casement::state {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kId[] = "0123456789abcdef0123456789abcdef";

class JournalTest : public ::testing::Test {
 protected:
  JournalTest() { options_.segment_bytes = 64 << 10; }

  absl::StatusOr<std::unique_ptr<Journal>> TryOpen(RecordNumber cut = 0) {
    return Journal::Open(dir_.path(), kId, cut, options_);
  }

  // Opens it as a start does.
  std::unique_ptr<Journal> Open(RecordNumber cut = 0) {
    auto journal = TryOpen(cut);
    EXPECT_THAT(journal, IsOk());
    if (!journal.ok()) return nullptr;
    replayed_.clear();
    EXPECT_THAT((*journal)->Replay(
                    cut + 1,
                    [&](RecordNumber number, const JournalRecord& record) {
                      replayed_.push_back(absl::StrCat(
                          number, ":", record.stream, ":", record.version, ":",
                          std::string(record.payload.substr(0, 8))));
                      return absl::OkStatus();
                    }),
                IsOk());
    EXPECT_THAT((*journal)->FinishReplay(), IsOk());
    return *std::move(journal);
  }

  static std::string Payload(int i, size_t size) {
    std::string payload = absl::StrCat("p", i, "-");
    while (payload.size() < size) payload.append(absl::StrCat(i * 7919, ","));
    return payload;
  }

  static absl::Status AppendOne(Journal* journal, int i, size_t size = 100,
                                bool sync = true) {
    const std::string payload = Payload(i, size);
    return journal->Append({{1, i, payload}}, sync);
  }

  std::vector<std::string> Segments() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  TempDir dir_;
  JournalOptions options_;
  std::vector<std::string> replayed_;
};

TEST_F(JournalTest, GivesBackWhatWasAppended) {
  {
    auto journal = Open();
    EXPECT_EQ(journal->last(), 0);
    ASSERT_THAT(journal->Append({{3, 1, "a"}, {4, 1, "b"}}, true), IsOk());
    ASSERT_THAT(journal->Append({{3, 2, std::string("\0c", 2)}}, false),
                IsOk());
    EXPECT_EQ(journal->last(), 3);
  }
  auto journal = Open();
  EXPECT_EQ(journal->last(), 3);
  EXPECT_THAT(replayed_,
              ElementsAre("1:3:1:a", "2:4:1:b", std::string("3:3:2:\0c", 8)));
}

TEST_F(JournalTest, AnIdleStartWritesNothing) {
  { auto journal = Open(); }
  EXPECT_THAT(Segments(), SizeIs(0));
  {
    auto journal = Open();
    ASSERT_THAT(AppendOne(journal.get(), 1), IsOk());
  }
  const auto before = Snapshot(dir_.path());
  { auto journal = Open(); }
  EXPECT_EQ(Snapshot(dir_.path()), before);
}

TEST_F(JournalTest, SegmentsRollAndAreCut) {
  auto journal = Open();
  for (int i = 1; i <= 100; ++i) {
    ASSERT_THAT(AppendOne(journal.get(), i, 8 << 10, i % 10 == 0), IsOk());
  }
  const size_t segments = journal->segment_count();
  EXPECT_GT(segments, 10u);
  EXPECT_THAT(Segments(), SizeIs(segments));

  ASSERT_THAT(journal->Cut(50), IsOk());
  EXPECT_LT(journal->segment_count(), segments);
  EXPECT_THAT(Segments(), SizeIs(journal->segment_count()));
  journal.reset();
  // All after the cut is there, also what shared a segment with it.
  journal = Open(50);
  ASSERT_THAT(replayed_, SizeIs(50));
  EXPECT_THAT(replayed_.front(), HasSubstr("51:1:51:p51-"));
  EXPECT_THAT(replayed_.back(), HasSubstr("100:1:100:p100"));

  ASSERT_THAT(journal->Cut(100), IsOk());
  EXPECT_EQ(journal->segment_count(), 0u);
  EXPECT_THAT(Segments(), SizeIs(0));
  ASSERT_THAT(AppendOne(journal.get(), 101), IsOk());
  journal.reset();
  journal = Open(100);
  EXPECT_EQ(journal->last(), 101);
  EXPECT_THAT(replayed_, SizeIs(1));
}

TEST_F(JournalTest, CutKeepsTheSegmentThatIsWritten) {
  auto journal = Open();
  ASSERT_THAT(AppendOne(journal.get(), 1), IsOk());
  ASSERT_THAT(journal->Cut(1), IsOk());
  EXPECT_EQ(journal->segment_count(), 1u);
  ASSERT_THAT(AppendOne(journal.get(), 2), IsOk());
  journal.reset();
  Open(1);
  EXPECT_THAT(replayed_, SizeIs(1));
}

TEST_F(JournalTest, WhatWasHalfMadeOrHalfRemovedGoes) {
  {
    auto journal = Open();
    ASSERT_THAT(AppendOne(journal.get(), 1), IsOk());
  }
  std::filesystem::create_directory(dir_ / "new-0000000009-x");
  WriteAll(dir_ / "new-0000000009-x/000003.log", "half");
  std::filesystem::create_directory(dir_ / "cut-0000000001-x");
  auto journal = Open();
  EXPECT_THAT(Segments(), SizeIs(1));
}

// Cut the newest segment's log by 1 to 64 bytes: the last record is gone, all
// before it is there, and writing goes on.
TEST_F(JournalTest, ATornTailLosesOnlyTheTornRecord) {
  TempDir whole;
  {
    auto journal = Open();
    for (int i = 1; i <= 5; ++i) {
      ASSERT_THAT(AppendOne(journal.get(), i), IsOk());
    }
  }
  CopyDir(dir_.path(), whole / "copy");
  for (int cut = 1; cut <= 64; ++cut) {
    SCOPED_TRACE(cut);
    CopyDir(whole / "copy", dir_.path());
    const std::string log = FilesEndingIn(dir_.path(), ".log").back();
    std::filesystem::resize_file(log, std::filesystem::file_size(log) - cut);
    auto journal = Open();
    ASSERT_NE(journal, nullptr);
    ASSERT_THAT(replayed_, SizeIs(4));
    ASSERT_THAT(AppendOne(journal.get(), 5), IsOk());
    ASSERT_THAT(AppendOne(journal.get(), 6), IsOk());
    journal.reset();
    journal = Open();
    ASSERT_NE(journal, nullptr);
    EXPECT_THAT(replayed_, SizeIs(6));
  }
}

TEST_F(JournalTest, ACutTailBeforeTheLastSegmentIsDataLoss) {
  {
    auto journal = Open();
    for (int i = 1; i <= 30; ++i) {
      ASSERT_THAT(AppendOne(journal.get(), i, 8 << 10), IsOk());
    }
    ASSERT_GE(journal->segment_count(), 3u);
  }
  const std::string log = FilesEndingIn(dir_.path(), ".log")[1];
  std::filesystem::resize_file(log, std::filesystem::file_size(log) - 1);
  const auto before = Snapshot(dir_.path());
  const auto journal = TryOpen();
  EXPECT_THAT(journal, HasCode(absl::StatusCode::kDataLoss));
  EXPECT_THAT(std::string(journal.status().message()),
              HasSubstr(std::filesystem::path(log).parent_path().string()));
  EXPECT_EQ(Snapshot(dir_.path()), before);
}

// Every single changed byte of a log is noticed, wherever it is.
TEST_F(JournalTest, AnyChangedByteIsDataLossAndNothingChanges) {
  {
    auto journal = Open();
    for (int i = 1; i <= 3; ++i) {
      ASSERT_THAT(AppendOne(journal.get(), i, 40), IsOk());
    }
  }
  TempDir whole;
  CopyDir(dir_.path(), whole / "copy");
  const std::string log = FilesEndingIn(dir_.path(), ".log").back();
  const std::string bytes = ReadAll(log);
  for (size_t at = 0; at < bytes.size(); ++at) {
    SCOPED_TRACE(at);
    std::string damaged = bytes;
    damaged[at] ^= 0x40;
    WriteAll(log, damaged);
    const auto before = Snapshot(dir_.path());
    const auto journal = TryOpen();
    ASSERT_THAT(journal, HasCode(absl::StatusCode::kDataLoss));
    ASSERT_THAT(std::string(journal.status().message()), HasSubstr(log));
    ASSERT_EQ(Snapshot(dir_.path()), before);
  }
}

TEST_F(JournalTest, AMissingFileOrSegmentIsDataLoss) {
  {
    auto journal = Open();
    for (int i = 1; i <= 30; ++i) {
      ASSERT_THAT(AppendOne(journal.get(), i, 8 << 10), IsOk());
    }
  }
  TempDir whole;
  CopyDir(dir_.path(), whole / "copy");
  const std::vector<std::string> segments = Segments();
  ASSERT_GE(segments.size(), 3u);
  for (const std::string& segment : segments) {
    for (const char* end : {"CURRENT", ".log", ""}) {
      const bool last = segment == segments.back();
      // A last segment that is gone whole can only be missed by whoever knows
      // its records.
      if (last && *end == '\0') continue;
      SCOPED_TRACE(segment + " " + end);
      CopyDir(whole / "copy", dir_.path());
      if (*end == '\0') {
        std::filesystem::remove_all(dir_ / segment);
      } else {
        std::filesystem::remove(FilesEndingIn(dir_ / segment, end).front());
      }
      EXPECT_THAT(TryOpen(), HasCode(absl::StatusCode::kDataLoss));
    }
  }
}

TEST_F(JournalTest, ASegmentOfAnotherStoreIsDataLoss) {
  {
    auto journal = Open();
    ASSERT_THAT(AppendOne(journal.get(), 1), IsOk());
  }
  const auto journal =
      Journal::Open(dir_.path(), std::string(32, 'f'), 0, options_);
  EXPECT_THAT(journal, HasCode(absl::StatusCode::kDataLoss));
}

TEST_F(JournalTest, AnEndBeforeTheCutIsDataLoss) {
  {
    auto journal = Open();
    ASSERT_THAT(AppendOne(journal.get(), 1), IsOk());
  }
  EXPECT_THAT(TryOpen(5), HasCode(absl::StatusCode::kDataLoss));
}

// Every k-th write fails: what was told to be synced is there, and what failed
// is there whole or not at all.
TEST_F(JournalTest, EveryFailedWriteLeavesAWholeJournal) {
  constexpr int kAppends = 12;
  for (int64_t k = 0;; ++k) {
    SCOPED_TRACE(k);
    CopyDir(TempDir().path(), dir_.path());
    FaultEnv env;
    options_.env = &env;
    int appended = 0;
    {
      auto journal = Open();
      ASSERT_NE(journal, nullptr);
      env.FailAfter(k);
      for (int i = 1; i <= kAppends; ++i) {
        const std::string a = Payload(2 * i - 1, 9000);
        const std::string b = Payload(2 * i, 9000);
        const absl::Status status =
            journal->Append({{1, 2 * i - 1, a}, {1, 2 * i, b}}, true);
        if (!status.ok()) break;
        ++appended;
      }
      if (appended < kAppends) {
        // Nothing may follow a failed write, also when there is room again.
        env.Heal();
        EXPECT_FALSE(AppendOne(journal.get(), 99).ok());
      }
    }
    env.Heal();
    env.DropUnsynced();
    auto journal = Open();
    ASSERT_NE(journal, nullptr);
    const size_t found = replayed_.size();
    EXPECT_EQ(found % 2, 0u) << "a write is there in part";
    EXPECT_GE(found, 2u * appended);
    EXPECT_LE(found, 2u * appended + 2);
    for (size_t i = 0; i < found; ++i) {
      EXPECT_THAT(replayed_[i],
                  HasSubstr(absl::StrCat(i + 1, ":1:", i + 1, ":p", i + 1)));
    }
    ASSERT_THAT(AppendOne(journal.get(), 100), IsOk());
    if (appended == kAppends) {
      EXPECT_GT(k, 20);
      break;
    }
  }
  options_.env = nullptr;
}

TEST_F(JournalTest, UnsyncedRecordsAreSyncedByALaterSync) {
  FaultEnv env;
  options_.env = &env;
  {
    auto journal = Open();
    ASSERT_THAT(AppendOne(journal.get(), 1, 100, true), IsOk());
    ASSERT_THAT(AppendOne(journal.get(), 2, 100, false), IsOk());
    EXPECT_TRUE(journal->has_unsynced());
    ASSERT_THAT(journal->Sync(), IsOk());
    EXPECT_FALSE(journal->has_unsynced());
    ASSERT_THAT(AppendOne(journal.get(), 3, 100, false), IsOk());
  }
  env.DropUnsynced();
  auto journal = Open();
  EXPECT_THAT(replayed_, SizeIs(2));
  options_.env = nullptr;
}

TEST_F(JournalTest, WhatAStartFoundUnsyncedCanBeSynced) {
  FaultEnv env;
  options_.env = &env;
  for (const bool sync : {true, false}) {
    {
      auto journal = Open();
      ASSERT_THAT(AppendOne(journal.get(), 1, 100, false), IsOk());
    }
    {
      auto journal = TryOpen();
      ASSERT_THAT(journal, IsOk());
      if (sync) {
        ASSERT_THAT((*journal)->SyncFound(), IsOk());
      }
    }
    env.DropUnsynced();
    auto journal = Open();
    EXPECT_EQ(journal->last(), 1);  // the second was lost
  }
  options_.env = nullptr;
}

}  // namespace
}  // namespace casement::state
