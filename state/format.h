// The values that the store keeps. Each begins with a version byte of its own,
// so that one can change without the others. What the engine hands over (log
// entries, rows, checkpoint chunks, record payloads) is opaque bytes here.
//
//   definition     := 1 bytes
//   published      := 1 version:u64
//   deleted        := 1 record:u64           last record number before it
//   mark           := 1 checkpoint:u64 version:u64 record:u64 chunks:u32
//   journal record := 1 stream:u32 version:u64 payload
//   log chunk      := 1 { length:varint entry }+
//
// Numbers are little-endian but for varints (seven bits a byte, low first).
#ifndef CASEMENT_STATE_FORMAT_H_
#define CASEMENT_STATE_FORMAT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "state/keys.h"

namespace casement::state {

// The number of the whole format, in the store's marker. A store with another
// one is refused.
inline constexpr int kStoreFormat = 1;

// What a log chunk holds at least before the next begins.
inline constexpr size_t kLogChunkBytes = 32 << 10;

std::string EncodeDefinitionValue(absl::string_view definition);
absl::StatusOr<absl::string_view> DecodeDefinitionValue(
    absl::string_view value);

std::string EncodeNumber(int64_t number);  // published, deleted
absl::StatusOr<int64_t> DecodeNumber(absl::string_view value);

// A stream's valid checkpoint.
struct CheckpointMark {
  uint64_t checkpoint = 0;
  int64_t version = 0;
  // All records of the stream up to this one are in it.
  RecordNumber record = 0;
  uint32_t chunks = 0;
};
std::string EncodeMark(const CheckpointMark& mark);
absl::StatusOr<CheckpointMark> DecodeMark(absl::string_view value);

struct JournalRecord {
  uint32_t stream = 0;
  int64_t version = 0;
  absl::string_view payload;
};
std::string EncodeJournalRecord(const JournalRecord& record);
// The payload points into `value`.
absl::StatusOr<JournalRecord> DecodeJournalRecord(absl::string_view value);

// Packs log entries into one value.
class LogChunkBuilder {
 public:
  void Add(absl::string_view entry);
  bool empty() const { return count_ == 0; }
  size_t bytes() const { return value_.size(); }
  int64_t count() const { return count_; }
  const std::string& value() const { return value_; }
  void Clear();

 private:
  std::string value_;
  int64_t count_ = 0;
};

// Walks the entries of a chunk, which must outlive it.
class LogChunkReader {
 public:
  LogChunkReader() = default;
  explicit LogChunkReader(absl::string_view value);
  // False at the end, or if the chunk is damaged; then status() tells.
  bool Next(absl::string_view* entry);
  const absl::Status& status() const { return status_; }

 private:
  absl::string_view rest_;
  absl::Status status_;
};

}  // namespace casement::state

#endif  // CASEMENT_STATE_FORMAT_H_
