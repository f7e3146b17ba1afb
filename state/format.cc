#include "state/format.h"

#include "absl/strings/str_cat.h"

namespace casement::state {
namespace {

constexpr char kVersion = 1;

void AppendFixed(std::string* out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    out->push_back(static_cast<char>(value >> (8 * i)));
  }
}

uint64_t TakeFixed(absl::string_view* in, int bytes) {
  uint64_t value = 0;
  for (int i = bytes - 1; i >= 0; --i) {
    value = value << 8 | static_cast<uint8_t>((*in)[i]);
  }
  in->remove_prefix(bytes);
  return value;
}

void AppendVarint(std::string* out, uint64_t value) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

bool TakeVarint(absl::string_view* in, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !in->empty(); shift += 7) {
    const uint8_t byte = static_cast<uint8_t>(in->front());
    in->remove_prefix(1);
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Checks the version byte and takes it off.
absl::Status TakeVersion(absl::string_view* value, absl::string_view what) {
  if (value->empty()) {
    return absl::DataLossError(absl::StrCat("a stored ", what, " is empty"));
  }
  if (value->front() != kVersion) {
    return absl::DataLossError(
        absl::StrCat("a stored ", what, " has the unknown version ",
                     static_cast<int>(static_cast<uint8_t>(value->front()))));
  }
  value->remove_prefix(1);
  return absl::OkStatus();
}

absl::Status WrongLength(absl::string_view what) {
  return absl::DataLossError(
      absl::StrCat("a stored ", what, " has a wrong length"));
}

}  // namespace

std::string EncodeDefinitionValue(absl::string_view definition) {
  return absl::StrCat(absl::string_view(&kVersion, 1), definition);
}

absl::StatusOr<absl::string_view> DecodeDefinitionValue(
    absl::string_view value) {
  absl::Status status = TakeVersion(&value, "definition");
  if (!status.ok()) return status;
  return value;
}

std::string EncodeNumber(int64_t number) {
  std::string value(1, kVersion);
  AppendFixed(&value, static_cast<uint64_t>(number), 8);
  return value;
}

absl::StatusOr<int64_t> DecodeNumber(absl::string_view value) {
  absl::Status status = TakeVersion(&value, "number");
  if (!status.ok()) return status;
  if (value.size() != 8) return WrongLength("number");
  return static_cast<int64_t>(TakeFixed(&value, 8));
}

std::string EncodeMark(const CheckpointMark& mark) {
  std::string value(1, kVersion);
  AppendFixed(&value, mark.checkpoint, 8);
  AppendFixed(&value, static_cast<uint64_t>(mark.version), 8);
  AppendFixed(&value, static_cast<uint64_t>(mark.record), 8);
  AppendFixed(&value, mark.chunks, 4);
  return value;
}

absl::StatusOr<CheckpointMark> DecodeMark(absl::string_view value) {
  absl::Status status = TakeVersion(&value, "checkpoint mark");
  if (!status.ok()) return status;
  if (value.size() != 28) return WrongLength("checkpoint mark");
  CheckpointMark mark;
  mark.checkpoint = TakeFixed(&value, 8);
  mark.version = static_cast<int64_t>(TakeFixed(&value, 8));
  mark.record = static_cast<RecordNumber>(TakeFixed(&value, 8));
  mark.chunks = static_cast<uint32_t>(TakeFixed(&value, 4));
  return mark;
}

std::string EncodeJournalRecord(const JournalRecord& record) {
  std::string value;
  value.reserve(13 + record.payload.size());
  value.push_back(kVersion);
  AppendFixed(&value, record.stream, 4);
  AppendFixed(&value, static_cast<uint64_t>(record.version), 8);
  value.append(record.payload.data(), record.payload.size());
  return value;
}

absl::StatusOr<JournalRecord> DecodeJournalRecord(absl::string_view value) {
  absl::Status status = TakeVersion(&value, "journal record");
  if (!status.ok()) return status;
  if (value.size() < 12) return WrongLength("journal record");
  JournalRecord record;
  record.stream = static_cast<uint32_t>(TakeFixed(&value, 4));
  record.version = static_cast<int64_t>(TakeFixed(&value, 8));
  record.payload = value;
  return record;
}

void LogChunkBuilder::Add(absl::string_view entry) {
  if (count_ == 0) value_.push_back(kVersion);
  AppendVarint(&value_, entry.size());
  value_.append(entry.data(), entry.size());
  ++count_;
}

void LogChunkBuilder::Clear() {
  value_.clear();
  count_ = 0;
}

LogChunkReader::LogChunkReader(absl::string_view value) : rest_(value) {
  status_ = TakeVersion(&rest_, "log chunk");
}

bool LogChunkReader::Next(absl::string_view* entry) {
  if (!status_.ok() || rest_.empty()) return false;
  uint64_t length = 0;
  if (!TakeVarint(&rest_, &length) || length > rest_.size()) {
    status_ = absl::DataLossError("a stored log chunk is cut short");
    return false;
  }
  *entry = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return true;
}

}  // namespace casement::state
