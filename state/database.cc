#include "state/database.h"

#include <cstdarg>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "leveldb/options.h"
#include "leveldb/table.h"
#include "state/status_macros.h"

namespace casement::state {
namespace {

// Without a logger of its own LevelDB writes a file LOG, and renames the one
// before, as the first thing that an opening does.
class QuietLogger : public leveldb::Logger {
 public:
  void Logv(const char*, std::va_list) override {}
};

leveldb::Logger* TheQuietLogger() {
  static QuietLogger logger;
  return &logger;
}

leveldb::ReadOptions VerifiedReads() {
  leveldb::ReadOptions options;
  options.verify_checksums = true;
  return options;
}

// For replays in memory: the most that LevelDB takes, so that a whole log
// stays in one memory table.
constexpr size_t kReplayBufferBytes = size_t{1} << 30;

}  // namespace

Database::Database(std::string path, const DatabaseOptions& options)
    : path_(std::move(path)), options_(options) {
  if (options_.env == nullptr) options_.env = leveldb::Env::Default();
}

Database::~Database() {
  if (overlay_ != nullptr) overlay_->Close();
  db_.reset();
}

absl::Status Database::OpenWith(leveldb::Env* env, bool reuse_logs) {
  leveldb::Options options;
  options.env = env;
  options.paranoid_checks = true;
  options.info_log = TheQuietLogger();
  options.create_if_missing = options_.create;
  options.error_if_exists = options_.create;
  options.write_buffer_size =
      reuse_logs ? kReplayBufferBytes : options_.write_buffer_bytes;
  options.reuse_logs = reuse_logs;
  options.compression =
      options_.compress ? leveldb::kSnappyCompression : leveldb::kNoCompression;
  leveldb::DB* db = nullptr;
  const leveldb::Status status = leveldb::DB::Open(options, path_, &db);
  if (status.ok()) {
    db_.reset(db);
    return absl::OkStatus();
  }
  if (options_.create) return Fail(status);  // there was nothing to damage
  if (status.IsIOError()) return Check(status);
  const std::string place = overlay_ == nullptr || overlay_->last_read().empty()
                                ? path_
                                : overlay_->last_read();
  return absl::DataLossError(absl::StrCat(place, ": ", status.ToString()));
}

absl::StatusOr<std::unique_ptr<Database>> Database::Open(
    const std::string& path, const DatabaseOptions& options) {
  std::unique_ptr<Database> database(new Database(path, options));
  RETURN_IF_ERROR(database->OpenWith(database->options_.env, false));
  return database;
}

absl::StatusOr<std::unique_ptr<Database>> Database::OpenReadOnly(
    const std::string& path, const DatabaseOptions& options) {
  std::unique_ptr<Database> database(new Database(path, options));
  database->overlay_ = std::make_unique<OverlayEnv>(database->options_.env);
  RETURN_IF_ERROR(database->OpenWith(database->overlay_.get(), true));
  return database;
}

absl::Status Database::Fail(const leveldb::Status& status) {
  failed_ = true;
  return absl::UnavailableError(
      absl::StrCat("cannot write to ", path_, ": ", status.ToString()));
}

absl::Status Database::Write(leveldb::WriteBatch* batch, bool sync) {
  if (failed_) {
    return absl::UnavailableError(
        absl::StrCat("an earlier write to ", path_, " failed"));
  }
  leveldb::WriteOptions options;
  options.sync = sync;
  const leveldb::Status status = db_->Write(options, batch);
  return status.ok() ? absl::OkStatus() : Fail(status);
}

absl::Status Database::Flush() {
  // Without a batch, Write begins a new memory table (DBImpl::Write calls
  // MakeRoomForWrite with force), and that waits until the table before has
  // become a file, synced and entered in the manifest. So the second call
  // returns when what was in memory at the first is on the disk.
  for (int i = 0; i < 2; ++i) {
    RETURN_IF_ERROR(Write(nullptr, false));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<std::string>> Database::Get(
    absl::string_view key) const {
  std::string value;
  const leveldb::Status status =
      db_->Get(VerifiedReads(), ToSlice(key), &value);
  if (status.ok()) return std::optional<std::string>(std::move(value));
  if (status.IsNotFound()) return std::optional<std::string>();
  return Check(status);
}

std::unique_ptr<leveldb::Iterator> Database::NewIterator() const {
  return std::unique_ptr<leveldb::Iterator>(db_->NewIterator(VerifiedReads()));
}

absl::Status Database::Check(const leveldb::Status& status) const {
  if (status.ok()) return absl::OkStatus();
  const std::string text = status.ToString();
  const bool damaged = status.IsCorruption() ||
                       absl::StrContains(text, "No such file") ||
                       absl::StrContains(text, "Input/output error");
  if (!damaged) {
    return absl::UnavailableError(absl::StrCat(path_, ": ", text));
  }
  // LevelDB names the file only if it couldn't be opened.
  const std::string place =
      absl::StrContains(text, path_) ? path_ : FindDamagedTable();
  return absl::DataLossError(absl::StrCat(place, ": ", text));
}

std::string Database::FindDamagedTable() const {
  std::lock_guard<std::mutex> lock(damage_mutex_);
  if (damaged_table_.has_value()) return *damaged_table_;
  leveldb::Options options;
  options.env = options_.env;
  options.paranoid_checks = true;
  std::vector<std::string> names;
  options_.env->GetChildren(path_, &names);
  for (const std::string& name : names) {
    if (!absl::EndsWith(name, ".ldb") && !absl::EndsWith(name, ".sst")) {
      continue;
    }
    const std::string path = absl::StrCat(path_, "/", name);
    uint64_t size = 0;
    leveldb::RandomAccessFile* opened = nullptr;
    if (!options_.env->GetFileSize(path, &size).ok() ||
        !options_.env->NewRandomAccessFile(path, &opened).ok()) {
      continue;  // removed by a compaction since
    }
    const std::unique_ptr<leveldb::RandomAccessFile> file(opened);
    leveldb::Table* table_opened = nullptr;
    leveldb::Status status =
        leveldb::Table::Open(options, file.get(), size, &table_opened);
    const std::unique_ptr<leveldb::Table> table(table_opened);
    if (status.ok()) {
      const std::unique_ptr<leveldb::Iterator> iterator(
          table->NewIterator(VerifiedReads()));
      for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      }
      status = iterator->status();
    }
    if (!status.ok()) {
      damaged_table_ = path;
      return path;
    }
  }
  return path_;
}

}  // namespace casement::state
