// A store: the state database (definitions, result logs, rows, late ledgers,
// checkpoints) and the journal, in one directory. Everything in the state
// database but definitions and deletions follows from the journal, so it is
// written unsynced; a checkpoint becomes valid only when all that it stands for
// is in tables on the disk.
//
// Writing (all methods that are not const, and StoreWriter) is for one thread
// at a time; reading may go on beside it. After a failed write nothing more can
// be written: close the store and open it anew.
#ifndef CASEMENT_STATE_STORE_H_
#define CASEMENT_STATE_STORE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "state/format.h"
#include "state/journal.h"
#include "state/keys.h"
#include "state/marker.h"
#include "state/open_error.h"

namespace casement::state {

class Database;

struct StoreOptions {
  leveldb::Env* env = nullptr;  // null: the machine's
  size_t segment_bytes = 64 << 20;
  size_t state_buffer_bytes = 16 << 20;
};

struct StoredStream {
  uint32_t number = 0;
  std::string definition;
  int64_t published = 0;  // all results up to this version are in the store
  std::optional<CheckpointMark> mark;
};

class Store {
 public:
  // Makes the store in a new directory. Otherwise checks all that a start needs
  // before it changes anything: errors are those of open_error.h.
  static absl::StatusOr<std::unique_ptr<Store>> Open(
      Directory* directory, const StoreOptions& options);
  ~Store();

  Journal& journal() { return *journal_; }

  // By number.
  absl::StatusOr<std::vector<StoredStream>> LoadStreams() const;

  // Whether the journal's record of this stream, which is in no LoadStreams, is
  // to be passed over: the stream was deleted. DATA_LOSS if it is unknown.
  absl::StatusOr<bool> IsDeleted(uint32_t stream, RecordNumber record) const;

  // Durable when it returns. Numbers are never used again.
  absl::StatusOr<uint32_t> CreateStream(absl::string_view definition);

  // Durable when it returns; the stream's data goes with later PurgeSome.
  // `last_record`: the journal has none of it after this one.
  absl::Status DeleteStream(uint32_t stream, RecordNumber last_record);

  // Likewise for a view, which must be entered in a StoreWriter.
  void DropViewLater(uint32_t stream, uint32_t view);

  // Removes a bounded piece of what deleted streams and views left. False if
  // there was nothing to remove.
  absl::StatusOr<bool> PurgeSome();

  // A checkpoint: chunks are put with StoreWriter under its number; Validate
  // makes it the one that counts. It brings all that was written before to the
  // disk first. The chunks of the one before are removed.
  struct NewMark {
    uint32_t stream = 0;
    CheckpointMark mark;
  };
  absl::Status ValidateCheckpoints(const std::vector<NewMark>& marks);
  // Removes chunks of checkpoints that never became valid.
  absl::Status RemoveStrayChunks(const StoredStream& stream);

  // Records up to `through` are in checkpoints: remembers that, durably, and
  // removes what segments can be removed.
  absl::Status CutJournal(RecordNumber through);
  RecordNumber cut() const { return cut_; }

  absl::StatusOr<std::optional<std::string>> Get(absl::string_view key) const;
  const Database& database() const { return *state_; }

 private:
  friend class StoreWriter;

  // What PurgeSome works on.
  struct Purge {
    uint32_t stream = 0;
    std::optional<uint32_t> view;
    size_t table = 0;        // index in the list of tables
    std::string resume_key;  // empty: at the beginning of the table
  };

  Store(Directory* directory, const StoreOptions& options);

  absl::Status Create();
  absl::Status CheckBeforeOpening();
  absl::Status LoadMeta();
  absl::Status LoadPurges();
  absl::Status FinishPurge(const Purge& purge);
  absl::Status RemoveRange(absl::string_view begin, absl::string_view end);

  Directory* const directory_;
  const StoreOptions options_;
  std::unique_ptr<Database> state_;
  std::unique_ptr<Journal> journal_;
  uint32_t next_stream_ = 1;
  RecordNumber cut_ = 0;
  std::deque<Purge> purges_;
};

// Puts and deletes in WriteBatches of bounded size, unsynced. What is put after
// something else is never in the store without it.
class StoreWriter {
 public:
  explicit StoreWriter(Store* store);
  ~StoreWriter();
  StoreWriter(const StoreWriter&) = delete;
  StoreWriter& operator=(const StoreWriter&) = delete;

  void Put(absl::string_view key, absl::string_view value);
  void Delete(absl::string_view key);
  size_t pending_bytes() const { return bytes_; }

  // Writes what is pending. The first error, of any Put too.
  absl::Status Commit(bool sync = false);

 private:
  struct Rep;
  void Added(size_t bytes);

  Store* const store_;
  std::unique_ptr<Rep> rep_;
  size_t bytes_ = 0;
  int keys_ = 0;
  absl::Status status_;
};

}  // namespace casement::state

#endif  // CASEMENT_STATE_STORE_H_
