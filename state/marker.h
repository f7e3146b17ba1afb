// A store's directory: whose it is, and that only one process has it. The file
// CASEMENT in it bears the store's id and the number of its format. Nothing in
// the directory is changed before both are known to be right, so a directory
// that is refused stays as it was.
//
//   CASEMENT       marker, see marker.cc
//   CASEMENT.lock  locked while a process has the store; left behind, harmless
//   state/         LevelDB: definitions, results, rows, checkpoints
//   journal/       LevelDBs, one a segment
#ifndef CASEMENT_STATE_MARKER_H_
#define CASEMENT_STATE_MARKER_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace casement::state {

// Holds the lock as long as it lives. A store is opened in it, and may be
// closed and opened again.
class Directory {
 public:
  // Takes the directory, or makes it; an empty one becomes a new store. The
  // kind of an error (open_error.h) is one of kInUse, kForeign, kNewerFormat,
  // kUnwritable, kCorrupt, kOther.
  static absl::StatusOr<std::unique_ptr<Directory>> Open(
      const std::string& path);
  ~Directory();
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  const std::string& path() const { return path_; }
  const std::string& store_id() const { return store_id_; }  // 32 hex digits
  int format() const { return format_; }

  // False while the store is being made: what is in the directory is then
  // unfinished work of a process that ended too early.
  bool ready() const { return ready_; }
  absl::Status MarkReady();

  // Whether so much can be written now.
  absl::Status ProbeSpace(size_t bytes) const;

 private:
  explicit Directory(std::string path);

  absl::Status ReadMarker(bool* found);
  absl::Status ParseMarker(const std::string& text);
  absl::Status WriteMarker() const;
  absl::Status CheckEmpty() const;
  absl::Status CheckWritable() const;
  absl::Status Lock();

  const std::string path_;
  std::string store_id_;
  int format_ = 0;
  bool ready_ = false;
  int lock_fd_ = -1;
};

// Makes entries of a directory durable.
absl::Status SyncDirectory(const std::string& path);

}  // namespace casement::state

#endif  // CASEMENT_STATE_MARKER_H_
