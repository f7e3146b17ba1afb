// The key layout of the state database and of the journal, encode and decode
// side by side. Keys sort bytewise as their parts do: numbers are big-endian,
// and the sign bit of a time is flipped, so that times before 1970 sort first.
//
//   key        := meta | definition | deleted | published | mark | chunk
//               | log | row | late | dropped
//   meta       := 'm' name
//   definition := 's' stream                       a stream's definition
//   deleted    := 'd' stream                       a stream that is being
//   deleted dropped    := 'v' stream view                  a view that is being
//   deleted published  := 'p' stream                       the publication
//   frontier mark       := 'c' stream                       the valid
//   checkpoint chunk      := 'k' stream checkpoint:u64 partition:u32 number:u32
//   log        := 'l' stream view version first_index:u64
//   row        := 'r' stream view closing:time start:time key_bytes
//   late       := 't' stream view version index:u32
//   stream, view := u32       version := u64
//
//   A journal segment has the keys  u64(record number)  from 1, and the store's
//   id under u64(0).
#ifndef CASEMENT_STATE_KEYS_H_
#define CASEMENT_STATE_KEYS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace casement::state {

// The number of a journal record in the whole store, from 1.
using RecordNumber = int64_t;

// The tables of the state database: the first byte of a key.
enum class Table : char {
  kMeta = 'm',
  kDefinition = 's',
  kDeletedStream = 'd',
  kDroppedView = 'v',
  kPublished = 'p',
  kCheckpointMark = 'c',
  kCheckpointChunk = 'k',
  kLog = 'l',
  kRow = 'r',
  kLate = 't',
};

std::string MetaKey(absl::string_view name);

// Keys of a table that has one entry a stream; also the prefix of all keys of
// a stream in the other tables.
std::string StreamKey(Table table, uint32_t stream);
std::optional<uint32_t> ParseStreamKey(Table table, absl::string_view key);

// Likewise for a view.
std::string ViewKey(Table table, uint32_t stream, uint32_t view);
struct ParsedViewKey {
  uint32_t stream = 0;
  uint32_t view = 0;
};
std::optional<ParsedViewKey> ParseViewKey(Table table, absl::string_view key);

std::string CheckpointPrefix(uint32_t stream, uint64_t checkpoint);
std::string CheckpointKey(uint32_t stream, uint64_t checkpoint, uint32_t number,
                          uint32_t partition);
struct ParsedCheckpointKey {
  uint32_t stream = 0;
  uint64_t checkpoint = 0;
  uint32_t number = 0;  // in the order of saving, from 0
  uint32_t partition = 0;
};
std::optional<ParsedCheckpointKey> ParseCheckpointKey(absl::string_view key);

std::string LogKey(uint32_t stream, uint32_t view, int64_t version,
                   int64_t first_index);
struct ParsedLogKey {
  uint32_t stream = 0;
  uint32_t view = 0;
  int64_t version = 0;
  int64_t first_index = 0;
};
std::optional<ParsedLogKey> ParseLogKey(absl::string_view key);

std::string RowKey(uint32_t stream, uint32_t view, int64_t closing_time,
                   int64_t start, absl::string_view key);
struct ParsedRowKey {
  uint32_t stream = 0;
  uint32_t view = 0;
  int64_t closing_time = 0;
  int64_t start = 0;
  absl::string_view key;  // points into what was parsed
};
std::optional<ParsedRowKey> ParseRowKey(absl::string_view key);

std::string LateKey(uint32_t stream, uint32_t view, int64_t version,
                    uint32_t index);

std::string JournalKey(RecordNumber number);
std::optional<RecordNumber> ParseJournalKey(absl::string_view key);

// The least string that is greater than every string with this prefix; empty if
// there is none.
std::string PrefixEnd(absl::string_view prefix);

}  // namespace casement::state

#endif  // CASEMENT_STATE_KEYS_H_
