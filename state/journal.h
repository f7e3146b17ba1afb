// The journal: every record of every stream, numbered through the whole store.
// It lives in LevelDBs of their own, one a segment, whose write buffer is
// larger than a segment: a record is written once, to the log, and never
// compacted. Space comes back by removing whole segments.
//
// A segment that an earlier process wrote is only ever read, in memory; writing
// goes on in a new one. So a torn tail stays as it is, and is never written
// over: the next segment's name tells which record it begins with, and a
// segment that ends before that is damaged.
//
//   journal/NUMBER-FIRST   segment number (10 digits), its first record (20)
//   journal/new-*, cut-*   being made, being removed
//
// Append and Sync are for one thread; the rest may run beside them.
#ifndef CASEMENT_STATE_JOURNAL_H_
#define CASEMENT_STATE_JOURNAL_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "state/format.h"
#include "state/keys.h"

namespace leveldb {
class Env;
}  // namespace leveldb

namespace casement::state {

class Database;

struct JournalOptions {
  leveldb::Env* env = nullptr;  // null: the machine's
  size_t segment_bytes = 64 << 20;
};

class Journal {
 public:
  // Reads and checks all segments; changes nothing. Records up to `cut` are not
  // needed any more, and may be gone. DATA_LOSS names what is damaged.
  static absl::StatusOr<std::unique_ptr<Journal>> Open(
      std::string dir, std::string store_id, RecordNumber cut,
      const JournalOptions& options);
  ~Journal();

  // Makes durable what Open found: an earlier process may have ended between
  // writing and syncing, and what follows from a record must not be published
  // while a power cut can still take it.
  absl::Status SyncFound();

  // Gives all records from `from` on, in order; stops at an error of `each`.
  using Each = std::function<absl::Status(RecordNumber, const JournalRecord&)>;
  absl::Status Replay(RecordNumber from, const Each& each);

  // Lets go of what Open read, and removes what an earlier process left half
  // made or half removed. Before the first Append.
  absl::Status FinishReplay();

  // The last record that was appended, now or by an earlier process.
  RecordNumber last() const { return last_.load(); }

  // Writes the records as last() + 1 and on, whole or not at all, and syncs
  // them and all before them if asked to. After a failure nothing more can be
  // appended.
  absl::Status Append(const std::vector<JournalRecord>& records, bool sync);
  absl::Status Sync();
  bool has_unsynced() const { return has_unsynced_; }

  // Removes all segments whose records are all at or before `through`.
  absl::Status Cut(RecordNumber through);

  size_t segment_count() const;
  // Appended since Open.
  uint64_t appended_bytes() const { return appended_bytes_.load(); }

 private:
  struct Segment {
    uint32_t number = 0;
    RecordNumber first = 0;
    RecordNumber last = 0;  // first - 1: none
    std::string path;
    std::unique_ptr<Database> reading;  // until FinishReplay
  };

  Journal(std::string dir, std::string store_id, const JournalOptions& options);

  absl::Status ListSegments();
  absl::Status CheckSegment(Segment* segment, bool keep_open) const;
  absl::StatusOr<std::unique_ptr<Database>> OpenForReading(
      const Segment& segment) const;
  absl::Status BeginSegment();
  absl::Status EndSegment();
  absl::Status RemoveTree(const std::string& path) const;

  const std::string dir_;
  const std::string store_id_;
  JournalOptions options_;
  std::atomic<RecordNumber> last_ = 0;
  std::atomic<uint64_t> appended_bytes_ = 0;
  uint32_t next_number_ = 1;
  bool has_unsynced_ = false;
  bool failed_ = false;
  std::unique_ptr<Database> writing_;
  uint64_t segment_bytes_ = 0;

  mutable std::mutex mutex_;
  std::vector<Segment> segments_;  // by number; the last is `writing_`'s
  bool last_is_open_ = false;
};

}  // namespace casement::state

#endif  // CASEMENT_STATE_JOURNAL_H_
