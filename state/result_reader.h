// Ways through a view's results in the store: its log by version and index, its
// rows by closing time, start and key. A cursor sees the store as it was when
// the cursor was made.
#ifndef CASEMENT_STATE_RESULT_READER_H_
#define CASEMENT_STATE_RESULT_READER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "state/format.h"
#include "state/keys.h"

namespace leveldb {
class Iterator;
}  // namespace leveldb

namespace casement::state {

class Store;
class Database;

class LogCursor {
 public:
  // The store must outlive it.
  LogCursor(const Store& store, uint32_t stream, uint32_t view);
  ~LogCursor();

  // To the first entry at or after this place.
  void Seek(int64_t version, int64_t index);
  void Next();

  // False at the end of the log, or after an error: then status() tells.
  bool Valid() const { return valid_; }
  const absl::Status& status() const { return status_; }
  int64_t version() const { return version_; }
  int64_t index() const { return index_; }
  absl::string_view entry() const { return entry_; }  // until the next move

  // The whole chunk that the entry is in, and its key.
  absl::string_view chunk() const;
  absl::string_view chunk_key() const;
  void NextChunk();

 private:
  bool EnterChunk();  // at the iterator's place
  void Fail(const absl::Status& status);

  const Database& database_;
  const std::string prefix_;
  std::unique_ptr<leveldb::Iterator> iterator_;
  LogChunkReader chunk_;
  bool valid_ = false;
  absl::Status status_;
  int64_t version_ = 0;
  int64_t index_ = 0;
  absl::string_view entry_;
};

class RowCursor {
 public:
  RowCursor(const Store& store, uint32_t stream, uint32_t view);
  ~RowCursor();

  // To the first row after this place; SeekToFirst: to the first of all.
  void SeekAfter(int64_t closing_time, int64_t start, absl::string_view key);
  void SeekToFirst();
  void Next();

  bool Valid() const { return valid_; }
  const absl::Status& status() const { return status_; }
  const ParsedRowKey& place() const { return place_; }
  absl::string_view row() const;

 private:
  void Read();

  const Database& database_;
  const std::string prefix_;
  std::unique_ptr<leveldb::Iterator> iterator_;
  bool valid_ = false;
  absl::Status status_;
  ParsedRowKey place_;
};

}  // namespace casement::state

#endif  // CASEMENT_STATE_RESULT_READER_H_
