#include "state/keys.h"

namespace casement::state {
namespace {

constexpr uint64_t kSignBit = uint64_t{1} << 63;

void AppendU32(std::string* out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    out->push_back(static_cast<char>(value >> shift));
  }
}

void AppendU64(std::string* out, uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) {
    out->push_back(static_cast<char>(value >> shift));
  }
}

void AppendTime(std::string* out, int64_t time) {
  AppendU64(out, static_cast<uint64_t>(time) ^ kSignBit);
}

std::string NewKey(Table table) {
  std::string key;
  key.reserve(32);
  key.push_back(static_cast<char>(table));
  return key;
}

// Takes parts off the front of a key; once one is missing, ok() stays false.
class KeyParser {
 public:
  KeyParser(Table table, absl::string_view key) : rest_(key) {
    ok_ = !rest_.empty() && rest_[0] == static_cast<char>(table);
    if (ok_) rest_.remove_prefix(1);
  }
  explicit KeyParser(absl::string_view key) : rest_(key) {}

  uint32_t U32() { return static_cast<uint32_t>(Take(4)); }
  uint64_t U64() { return Take(8); }
  int64_t I64() { return static_cast<int64_t>(Take(8)); }
  int64_t Time() { return static_cast<int64_t>(Take(8) ^ kSignBit); }
  absl::string_view Rest() const { return rest_; }
  bool ok() const { return ok_; }
  bool AtEnd() const { return ok_ && rest_.empty(); }

 private:
  uint64_t Take(size_t bytes) {
    if (!ok_ || rest_.size() < bytes) {
      ok_ = false;
      return 0;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; ++i) {
      value = value << 8 | static_cast<uint8_t>(rest_[i]);
    }
    rest_.remove_prefix(bytes);
    return value;
  }

  absl::string_view rest_;
  bool ok_ = true;
};

}  // namespace

std::string MetaKey(absl::string_view name) {
  std::string key = NewKey(Table::kMeta);
  key.append(name.data(), name.size());
  return key;
}

std::string StreamKey(Table table, uint32_t stream) {
  std::string key = NewKey(table);
  AppendU32(&key, stream);
  return key;
}

std::optional<uint32_t> ParseStreamKey(Table table, absl::string_view key) {
  KeyParser parser(table, key);
  const uint32_t stream = parser.U32();
  if (!parser.AtEnd()) return std::nullopt;
  return stream;
}

std::string ViewKey(Table table, uint32_t stream, uint32_t view) {
  std::string key = StreamKey(table, stream);
  AppendU32(&key, view);
  return key;
}

std::optional<ParsedViewKey> ParseViewKey(Table table, absl::string_view key) {
  KeyParser parser(table, key);
  ParsedViewKey parsed;
  parsed.stream = parser.U32();
  parsed.view = parser.U32();
  if (!parser.AtEnd()) return std::nullopt;
  return parsed;
}

std::string CheckpointPrefix(uint32_t stream, uint64_t checkpoint) {
  std::string key = StreamKey(Table::kCheckpointChunk, stream);
  AppendU64(&key, checkpoint);
  return key;
}

std::string CheckpointKey(uint32_t stream, uint64_t checkpoint, uint32_t number,
                          uint32_t partition) {
  std::string key = CheckpointPrefix(stream, checkpoint);
  AppendU32(&key, number);
  AppendU32(&key, partition);
  return key;
}

std::optional<ParsedCheckpointKey> ParseCheckpointKey(absl::string_view key) {
  KeyParser parser(Table::kCheckpointChunk, key);
  ParsedCheckpointKey parsed;
  parsed.stream = parser.U32();
  parsed.checkpoint = parser.U64();
  parsed.number = parser.U32();
  parsed.partition = parser.U32();
  if (!parser.AtEnd()) return std::nullopt;
  return parsed;
}

std::string LogKey(uint32_t stream, uint32_t view, int64_t version,
                   int64_t first_index) {
  std::string key = ViewKey(Table::kLog, stream, view);
  AppendU64(&key, static_cast<uint64_t>(version));
  AppendU64(&key, static_cast<uint64_t>(first_index));
  return key;
}

std::optional<ParsedLogKey> ParseLogKey(absl::string_view key) {
  KeyParser parser(Table::kLog, key);
  ParsedLogKey parsed;
  parsed.stream = parser.U32();
  parsed.view = parser.U32();
  parsed.version = parser.I64();
  parsed.first_index = parser.I64();
  if (!parser.AtEnd()) return std::nullopt;
  return parsed;
}

std::string RowKey(uint32_t stream, uint32_t view, int64_t closing_time,
                   int64_t start, absl::string_view key) {
  std::string out = ViewKey(Table::kRow, stream, view);
  AppendTime(&out, closing_time);
  AppendTime(&out, start);
  out.append(key.data(), key.size());
  return out;
}

std::optional<ParsedRowKey> ParseRowKey(absl::string_view key) {
  KeyParser parser(Table::kRow, key);
  ParsedRowKey parsed;
  parsed.stream = parser.U32();
  parsed.view = parser.U32();
  parsed.closing_time = parser.Time();
  parsed.start = parser.Time();
  if (!parser.ok()) return std::nullopt;
  parsed.key = parser.Rest();
  return parsed;
}

std::string LateKey(uint32_t stream, uint32_t view, int64_t version,
                    uint32_t index) {
  std::string key = ViewKey(Table::kLate, stream, view);
  AppendU64(&key, static_cast<uint64_t>(version));
  AppendU32(&key, index);
  return key;
}

std::string JournalKey(RecordNumber number) {
  std::string key;
  AppendU64(&key, static_cast<uint64_t>(number));
  return key;
}

std::optional<RecordNumber> ParseJournalKey(absl::string_view key) {
  KeyParser parser(key);
  const RecordNumber number = parser.I64();
  if (!parser.AtEnd()) return std::nullopt;
  return number;
}

std::string PrefixEnd(absl::string_view prefix) {
  std::string end(prefix.data(), prefix.size());
  while (!end.empty()) {
    if (static_cast<uint8_t>(end.back()) != 0xff) {
      end.back() = static_cast<char>(static_cast<uint8_t>(end.back()) + 1);
      return end;
    }
    end.pop_back();
  }
  return end;
}

}  // namespace casement::state
