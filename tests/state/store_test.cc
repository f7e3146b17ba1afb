#include "state/store.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "state/checkpoint_reader.h"
#include "state/database.h"
#include "state/fault_env.h"
#include "state/result_reader.h"
#include "tests/state/test_util.h"

namespace casement::state {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class StoreTest : public ::testing::Test {
 protected:
  absl::Status TryOpen() {
    store_.reset();
    directory_.reset();
    auto directory = Directory::Open(path_);
    if (!directory.ok()) return directory.status();
    directory_ = *std::move(directory);
    auto store = Store::Open(directory_.get(), options_);
    if (!store.ok()) return store.status();
    store_ = *std::move(store);
    return store_->journal().FinishReplay();
  }
  void Open() { ASSERT_THAT(TryOpen(), IsOk()); }
  void Close() {
    store_.reset();
    directory_.reset();
  }

  void ExpectRefused(OpenError kind, const std::string& message_part) {
    Close();
    const auto before = Snapshot(path_);
    const absl::Status status = TryOpen();
    EXPECT_EQ(GetOpenError(status), kind) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message_part));
    Close();
    EXPECT_EQ(Snapshot(path_), before) << "the refusal changed something";
  }

  // A log chunk with one entry, and the frontier.
  void Publish(uint32_t stream, uint32_t view, int64_t version,
               const std::string& entry) {
    LogChunkBuilder chunk;
    chunk.Add(entry);
    StoreWriter writer(store_.get());
    writer.Put(LogKey(stream, view, version, 0), chunk.value());
    writer.Put(RowKey(stream, view, version, 0, entry), entry);
    writer.Put(StreamKey(Table::kPublished, stream), EncodeNumber(version));
    ASSERT_THAT(writer.Commit(), IsOk());
  }

  std::vector<std::string> Log(uint32_t stream, uint32_t view) {
    std::vector<std::string> log;
    LogCursor cursor(*store_, stream, view);
    for (cursor.Seek(0, 0); cursor.Valid(); cursor.Next()) {
      log.push_back(absl::StrCat(cursor.version(), ".", cursor.index(), " ",
                                 std::string(cursor.entry().substr(0, 20))));
    }
    EXPECT_THAT(cursor.status(), IsOk());
    return log;
  }

  size_t CountKeys() {
    size_t count = 0;
    const auto iterator = store_->database().NewIterator();
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) ++count;
    return count;
  }

  void PurgeAll() {
    while (true) {
      const auto more = store_->PurgeSome();
      ASSERT_THAT(more, IsOk());
      if (!*more) return;
    }
  }

  // Puts a checkpoint of these chunks and makes it valid.
  void Checkpoint(uint32_t stream, uint64_t number,
                  const std::vector<std::string>& chunks) {
    StoreWriter writer(store_.get());
    CheckpointMark mark{number, 1, 1, 0};
    for (const std::string& chunk : chunks) {
      writer.Put(CheckpointKey(stream, number, mark.chunks, mark.chunks % 64),
                 chunk);
      ++mark.chunks;
    }
    ASSERT_THAT(writer.Commit(), IsOk());
    ASSERT_THAT(store_->ValidateCheckpoints({{stream, mark}}), IsOk());
  }

  std::vector<std::string> ReadCheckpoint(const CheckpointMark& mark,
                                          uint32_t stream) {
    std::vector<std::string> chunks;
    CheckpointReader reader(store_->database(), stream, mark);
    while (true) {
      const auto chunk = reader.Next();
      EXPECT_THAT(chunk, IsOk());
      if (!chunk.ok() || !chunk->has_value()) return chunks;
      chunks.push_back(**chunk);
    }
  }

  TempDir dir_;
  std::string path_ = dir_ / "store";
  StoreOptions options_;
  std::unique_ptr<Directory> directory_;
  std::unique_ptr<Store> store_;
};

TEST_F(StoreTest, KeepsStreamsAndNeverUsesANumberAgain) {
  Open();
  EXPECT_EQ(*store_->CreateStream("one"), 1u);
  EXPECT_EQ(*store_->CreateStream("two"), 2u);
  ASSERT_THAT(store_->DeleteStream(2, 0), IsOk());
  Open();
  EXPECT_EQ(*store_->CreateStream("three"), 3u);
  Publish(3, 1, 7, "x");
  Open();
  const auto streams = store_->LoadStreams();
  ASSERT_THAT(streams, IsOk());
  ASSERT_THAT(*streams, SizeIs(2));
  EXPECT_EQ((*streams)[0].definition, "one");
  EXPECT_EQ((*streams)[0].published, 0);
  EXPECT_EQ((*streams)[1].number, 3u);
  EXPECT_EQ((*streams)[1].published, 7);
}

TEST_F(StoreTest, ACreationThatWasCutShortIsBegunAgain) {
  // Before each operation of the creation the process ends.
  for (int64_t k = 0;; ++k) {
    SCOPED_TRACE(k);
    Close();
    std::filesystem::remove_all(path_);
    FaultEnv env;
    options_.env = &env;
    env.FailAfter(k);
    const absl::Status cut = TryOpen();
    Close();
    env.Heal();
    env.DropUnsynced();
    Open();
    EXPECT_EQ(*store_->CreateStream("one"), 1u);
    Close();
    options_.env = nullptr;
    if (cut.ok()) break;
  }
}

TEST_F(StoreTest, WritesOfAnySizeAreSplitInOrder) {
  Open();
  StoreWriter writer(store_.get());
  for (int i = 0; i < 9000; ++i) {
    LogChunkBuilder chunk;
    chunk.Add(absl::StrCat("entry ", i));
    writer.Put(LogKey(1, 1, 5, i), chunk.value());
    EXPECT_LE(writer.pending_bytes(), size_t{1} << 20);
  }
  ASSERT_THAT(writer.Commit(), IsOk());
  EXPECT_THAT(Log(1, 1), SizeIs(9000));
}

TEST_F(StoreTest, LogsAreSoughtByVersionAndIndex) {
  Open();
  StoreWriter writer(store_.get());
  for (const int64_t version : {3, 7}) {
    for (const int64_t first : {0, 4, 8}) {
      LogChunkBuilder chunk;
      for (int i = 0; i < 4; ++i) {
        chunk.Add(absl::StrCat(version, "/", first + i));
      }
      writer.Put(LogKey(1, 2, version, first), chunk.value());
    }
  }
  LogChunkBuilder other;
  other.Add("of another view");
  writer.Put(LogKey(1, 1, 9, 0), other.value());
  writer.Put(LogKey(1, 3, 0, 0), other.value());
  ASSERT_THAT(writer.Commit(), IsOk());
  LogCursor cursor(*store_, 1, 2);
  const auto seek = [&](int64_t version, int64_t index) -> std::string {
    cursor.Seek(version, index);
    return cursor.Valid() ? std::string(cursor.entry()) : "end";
  };
  for (int64_t i = 0; i < 12; ++i) {
    EXPECT_EQ(seek(3, i), absl::StrCat("3/", i));
    EXPECT_EQ(seek(7, i), absl::StrCat("7/", i));
    EXPECT_EQ(cursor.index(), i);
  }
  EXPECT_EQ(seek(0, 0), "3/0");
  EXPECT_EQ(seek(1, 5), "3/0");
  EXPECT_EQ(seek(3, 12), "7/0");
  EXPECT_EQ(seek(5, 2), "7/0");
  EXPECT_EQ(seek(7, 12), "end");
  EXPECT_EQ(seek(8, 0), "end");
  EXPECT_EQ(seek(8, 3), "end");
  EXPECT_THAT(cursor.status(), IsOk());
}

TEST_F(StoreTest, RowsComeInOrderAndFromAnyPlace) {
  Open();
  StoreWriter writer(store_.get());
  const std::vector<std::pair<int64_t, std::string>> rows = {
      {-10, "a"}, {-10, std::string("a\0", 2)}, {-10, "b"}, {0, ""}, {5, "a"}};
  for (const auto& [closing, key] : rows) {
    writer.Put(RowKey(1, 1, closing, closing - 10, key),
               absl::StrCat("row", closing, key));
  }
  writer.Put(RowKey(1, 2, 0, 0, "x"), "of another view");
  ASSERT_THAT(writer.Commit(), IsOk());
  for (size_t from = 0; from <= rows.size(); ++from) {
    RowCursor cursor(*store_, 1, 1);
    if (from == 0) {
      cursor.SeekToFirst();
    } else {
      const auto& [closing, key] = rows[from - 1];
      cursor.SeekAfter(closing, closing - 10, key);
    }
    for (size_t i = from; i < rows.size(); ++i, cursor.Next()) {
      ASSERT_TRUE(cursor.Valid());
      EXPECT_EQ(cursor.place().closing_time, rows[i].first);
      EXPECT_EQ(cursor.place().key, rows[i].second);
      EXPECT_EQ(cursor.row(),
                absl::StrCat("row", rows[i].first, rows[i].second));
    }
    EXPECT_FALSE(cursor.Valid());
    EXPECT_THAT(cursor.status(), IsOk());
  }
}

TEST_F(StoreTest, DeletedStreamsAndViewsArePurgedAlsoAfterAStop) {
  Open();
  ASSERT_THAT(store_->CreateStream("one"), IsOk());
  ASSERT_THAT(store_->CreateStream("two"), IsOk());
  const size_t before = CountKeys();
  for (int version = 1; version <= 50; ++version) {
    Publish(1, 1, version, "x");
    Publish(1, 2, version, "y");
    Publish(2, 1, version, "z");
  }
  Checkpoint(2, 1, {"chunk"});
  {
    StoreWriter writer(store_.get());
    writer.Put(ViewKey(Table::kDroppedView, 1, 2), "");
    ASSERT_THAT(writer.Commit(), IsOk());
  }
  ASSERT_THAT(store_->DeleteStream(2, 0), IsOk());
  Open();  // nothing was purged before
  PurgeAll();
  EXPECT_THAT(Log(1, 1), SizeIs(50));
  EXPECT_THAT(Log(1, 2), IsEmpty());
  EXPECT_THAT(Log(2, 1), IsEmpty());
  // Stream one with its definition, log, rows and frontier; of stream two that
  // it was deleted.
  EXPECT_EQ(CountKeys(), before + 50 + 50 + 1);
  EXPECT_TRUE(*store_->IsDeleted(2, 1));
  EXPECT_THAT(store_->IsDeleted(9, 1), HasCode(absl::StatusCode::kDataLoss));
}

TEST_F(StoreTest, ADeletionIsForgottenWhenTheJournalIsCutBehindIt) {
  Open();
  ASSERT_THAT(store_->CreateStream("one"), IsOk());
  ASSERT_THAT(store_->journal().Append({{1, 1, "a"}, {1, 2, "b"}}, true),
              IsOk());
  ASSERT_THAT(store_->DeleteStream(1, 2), IsOk());
  const auto entry = [&] {
    return store_->Get(StreamKey(Table::kDeletedStream, 1))->has_value();
  };
  ASSERT_THAT(store_->CutJournal(1), IsOk());
  EXPECT_TRUE(entry());
  PurgeAll();
  ASSERT_THAT(store_->CutJournal(2), IsOk());
  EXPECT_FALSE(entry());
  EXPECT_TRUE(*store_->IsDeleted(1, 2)) << "behind the cut";
  Open();
  EXPECT_EQ(store_->cut(), 2);
  EXPECT_EQ(store_->journal().last(), 2);
}

TEST_F(StoreTest, OnlyTheLastValidCheckpointStays) {
  Open();
  ASSERT_THAT(store_->CreateStream("one"), IsOk());
  Checkpoint(1, 1, {"a", "b", "c"});
  Checkpoint(1, 2, {"d", "e"});
  {
    StoreWriter writer(store_.get());  // never becomes valid
    writer.Put(CheckpointKey(1, 3, 0, 0), "half");
    ASSERT_THAT(writer.Commit(), IsOk());
  }
  Open();
  const auto streams = store_->LoadStreams();
  ASSERT_THAT(streams, IsOk());
  ASSERT_TRUE((*streams)[0].mark.has_value());
  EXPECT_THAT(ReadCheckpoint(*(*streams)[0].mark, 1), ElementsAre("d", "e"));
  const size_t before = CountKeys();
  ASSERT_THAT(store_->RemoveStrayChunks((*streams)[0]), IsOk());
  EXPECT_EQ(CountKeys(), before - 1);
}

// What a checkpoint stands for survives a power cut, though nothing of it was
// synced when it was written, and LevelDB has begun new log files since.
TEST_F(StoreTest, AValidCheckpointBringsAllBeforeItToTheDisk) {
  FaultEnv env;
  options_.env = &env;
  options_.state_buffer_bytes = 64 << 10;
  Open();
  ASSERT_THAT(store_->CreateStream("one"), IsOk());
  std::vector<std::string> chunks;
  for (int i = 0; i < 20; ++i) {
    chunks.push_back(std::string(20'000, static_cast<char>('a' + i)));
  }
  for (int version = 1; version <= 20; ++version) {
    Publish(1, 1, version, std::string(9'000, static_cast<char>(version)));
  }
  Checkpoint(1, 1, chunks);
  Publish(1, 1, 21, "after it");
  Close();
  env.DropUnsynced();
  Open();
  const auto streams = store_->LoadStreams();
  ASSERT_THAT(streams, IsOk());
  ASSERT_TRUE((*streams)[0].mark.has_value());
  EXPECT_EQ(ReadCheckpoint(*(*streams)[0].mark, 1), chunks);
  EXPECT_THAT(Log(1, 1), SizeIs(20));
  Close();
  options_.env = nullptr;
}

TEST_F(StoreTest, NothingFollowsAFailedWrite) {
  FaultEnv env;
  options_.env = &env;
  Open();
  ASSERT_THAT(store_->CreateStream("one"), IsOk());
  env.FailAfter(0);
  EXPECT_THAT(store_->CreateStream("two"),
              HasCode(absl::StatusCode::kUnavailable));
  env.Heal();
  EXPECT_FALSE(store_->CreateStream("three").ok());
  Open();
  EXPECT_THAT(*store_->LoadStreams(), SizeIs(1));
  EXPECT_EQ(*store_->CreateStream("four"), 2u);
  Close();
  options_.env = nullptr;
}

// -- Damage

class DamagedStoreTest : public StoreTest {
 protected:
  void SetUp() override {
    Open();
    ASSERT_THAT(store_->CreateStream("one"), IsOk());
    for (int i = 1; i <= 5; ++i) {
      const std::string payload(5000, static_cast<char>(i));
      ASSERT_THAT(store_->journal().Append({{1, i, payload}}, true), IsOk());
    }
    for (int version = 1; version <= 20; ++version) {
      Publish(1, 1, version, std::string(9'000, static_cast<char>(version)));
    }
    Checkpoint(1, 1, {"chunk a", "chunk b"});
    for (int version = 21; version <= 25; ++version) {
      Publish(1, 1, version, "in the log");
    }
    ASSERT_THAT(store_->CreateStream("two"), IsOk());
    Close();
  }

  absl::Status ReadAllResults(size_t* read);

  static void Flip(const std::string& file, size_t at) {
    std::string bytes = ReadAll(file);
    ASSERT_LT(at, bytes.size());
    bytes[at] ^= 1;
    WriteAll(file, bytes);
  }
};

// Reads the log and the rows of view 1 and counts what it got.
absl::Status DamagedStoreTest::ReadAllResults(size_t* read) {
  LogCursor log(*store_, 1, 1);
  for (log.Seek(0, 0); log.Valid(); log.Next()) ++*read;
  RowCursor rows(*store_, 1, 1);
  for (rows.SeekToFirst(); rows.Valid(); rows.Next()) ++*read;
  return log.status().ok() ? rows.status() : log.status();
}

TEST_F(DamagedStoreTest, IsFineWhenNothingIsDamaged) {
  Open();
  EXPECT_THAT(Log(1, 1), SizeIs(25));
}

TEST_F(DamagedStoreTest, AChangedByteInALogIsRefused) {
  for (const char* part : {"/state", "/journal"}) {
    for (const std::string& log : FilesEndingIn(path_ + part, ".log")) {
      const size_t size = std::filesystem::file_size(log);
      for (const size_t at : {size / 2, size_t{4}, size - 20}) {
        if (size < 64) continue;
        SCOPED_TRACE(absl::StrCat(log, " ", at));
        Flip(log, at);
        ExpectRefused(OpenError::kCorrupt, log);
        Flip(log, at);
      }
    }
  }
  Open();
}

TEST_F(DamagedStoreTest, AChangedByteInTheManifestIsRefused) {
  for (const std::string& file : FilesEndingIn(path_, "CURRENT")) {
    const std::string dir = std::filesystem::path(file).parent_path();
    std::string name = ReadAll(file);
    name.pop_back();
    const std::string manifest = dir + "/" + name;
    const size_t size = std::filesystem::file_size(manifest);
    for (size_t at = 0; at < size; ++at) {
      SCOPED_TRACE(absl::StrCat(manifest, " ", at));
      Flip(manifest, at);
      ExpectRefused(OpenError::kCorrupt, dir);
      Flip(manifest, at);
    }
  }
  Open();
}

TEST_F(DamagedStoreTest, AMissingFileIsRefused) {
  TempDir whole;
  CopyDir(path_, whole / "copy");
  std::vector<std::string> files = FilesEndingIn(path_ + "/state", ".ldb");
  ASSERT_FALSE(files.empty());
  files.push_back(path_ + "/state/CURRENT");
  files.push_back(path_ + "/state");
  files.push_back(path_ + "/journal");
  for (const std::string& log : FilesEndingIn(path_, ".log")) {
    files.push_back(log);
  }
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    std::filesystem::remove_all(file);
    ExpectRefused(OpenError::kCorrupt, path_);
    CopyDir(whole / "copy", path_);
  }
  Open();
}

TEST_F(DamagedStoreTest, TheStateOfAnotherStoreIsRefused) {
  TempDir kept;
  CopyDir(path_, kept / "copy");
  std::filesystem::remove_all(path_);
  Open();
  Close();
  CopyDir(kept / "copy/state", path_ + "/state");
  ExpectRefused(OpenError::kForeign, "another store");
}

TEST_F(DamagedStoreTest, ANewerFormatIsRefused) {
  const std::string marker = path_ + "/CASEMENT";
  std::string text = ReadAll(marker);
  const std::string now = absl::StrCat("format ", kStoreFormat);
  text.replace(text.find(now), now.size(),
               absl::StrCat("format ", kStoreFormat + 1));
  WriteAll(marker, text);
  ExpectRefused(OpenError::kNewerFormat, absl::StrCat(kStoreFormat + 1));
}

// A damaged table may be met only by the read that needs it; that read tells
// the file. What a start loads is looked at before anything is changed.
TEST_F(DamagedStoreTest, AChangedByteInATableIsToldByTheReadThatMeetsIt) {
  int told_by_start = 0;
  int told_by_read = 0;
  for (const std::string& table : FilesEndingIn(path_ + "/state", ".ldb")) {
    const size_t size = std::filesystem::file_size(table);
    for (size_t at = 1; at < size; at += size / 23 + 1) {
      SCOPED_TRACE(absl::StrCat(table, " ", at, " of ", size));
      TempDir whole;
      CopyDir(path_, whole / "copy");
      Flip(table, at);
      const auto before = Snapshot(path_);
      const absl::Status opened = TryOpen();
      if (!opened.ok()) {
        EXPECT_EQ(GetOpenError(opened), OpenError::kCorrupt) << opened;
        EXPECT_THAT(std::string(opened.message()), HasSubstr(table));
        Close();
        EXPECT_EQ(Snapshot(path_), before);
        ++told_by_start;
      } else {
        size_t read = 0;
        const absl::Status status = ReadAllResults(&read);
        if (status.ok()) {
          // A byte that nothing depends on, such as padding of the footer.
          EXPECT_EQ(read, 50u);
        } else {
          EXPECT_THAT(status, HasCode(absl::StatusCode::kDataLoss));
          EXPECT_THAT(std::string(status.message()), HasSubstr(".ldb"));
          ++told_by_read;
        }
        Close();
      }
      CopyDir(whole / "copy", path_);
    }
  }
  EXPECT_GT(told_by_start, 0);
  EXPECT_GT(told_by_read, 0);
}

}  // namespace
}  // namespace casement::state
