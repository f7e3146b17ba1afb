// One LevelDB, handled with care: checksums are verified on every read, damage
// is DATA_LOSS with the name of the file, and after a failed write the handle
// takes no other, since it might land behind a torn record.
#ifndef CASEMENT_STATE_DATABASE_H_
#define CASEMENT_STATE_DATABASE_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "leveldb/db.h"
#include "leveldb/env.h"
#include "leveldb/write_batch.h"
#include "state/overlay_env.h"

namespace casement::state {

inline leveldb::Slice ToSlice(absl::string_view view) {
  return leveldb::Slice(view.data(), view.size());
}
inline absl::string_view ToView(const leveldb::Slice& slice) {
  return absl::string_view(slice.data(), slice.size());
}

struct DatabaseOptions {
  leveldb::Env* env = nullptr;  // null: the machine's
  size_t write_buffer_bytes = 16 << 20;
  bool compress = true;
  bool create = false;
};

class Database {
 public:
  static absl::StatusOr<std::unique_ptr<Database>> Open(
      const std::string& path, const DatabaseOptions& options);

  // For reading; replays the logs in memory and changes nothing in the
  // directory, also if it fails. What is written to it vanishes.
  static absl::StatusOr<std::unique_ptr<Database>> OpenReadOnly(
      const std::string& path, const DatabaseOptions& options);

  ~Database();

  // UNAVAILABLE if it fails or an earlier one did.
  absl::Status Write(leveldb::WriteBatch* batch, bool sync);

  // Brings all that was written into tables on the disk. A synced write does
  // not do that for what came before it: LevelDB may have begun a new log file
  // since, and the older one is then not synced.
  absl::Status Flush();

  // Nothing if there is no such key.
  absl::StatusOr<std::optional<std::string>> Get(absl::string_view key) const;

  // Look at Check(iterator->status()) when it ends.
  std::unique_ptr<leveldb::Iterator> NewIterator() const;

  // DATA_LOSS naming a file, or UNAVAILABLE, for a failed read.
  absl::Status Check(const leveldb::Status& status) const;

  const std::string& path() const { return path_; }
  bool failed() const { return failed_.load(); }

 private:
  Database(std::string path, const DatabaseOptions& options);

  absl::Status OpenWith(leveldb::Env* env, bool reuse_logs);
  std::string FindDamagedTable() const;
  absl::Status Fail(const leveldb::Status& status);

  const std::string path_;
  DatabaseOptions options_;
  std::unique_ptr<OverlayEnv> overlay_;  // read only
  std::unique_ptr<leveldb::DB> db_;
  std::atomic<bool> failed_ = false;
  mutable std::mutex damage_mutex_;
  mutable std::optional<std::string> damaged_table_;
};

}  // namespace casement::state

#endif  // CASEMENT_STATE_DATABASE_H_
