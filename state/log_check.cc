#include "state/log_check.h"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace casement::state {
namespace {

// LevelDB's log format: blocks of 32 KiB, and in them
//   record := masked_crc:u32 length:u16 type:u8 payload
// where the checksum (CRC-32C) is of type and payload.
constexpr size_t kBlockBytes = 32768;
constexpr size_t kHeaderBytes = 7;
constexpr int kLastType = 4;

uint32_t Crc32c(absl::string_view bytes) {
  static const std::array<uint32_t, 256> kTable = [] {
    std::array<uint32_t, 256> table;
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) {
        value = value & 1 ? value >> 1 ^ 0x82f63b78u : value >> 1;
      }
      table[i] = value;
    }
    return table;
  }();
  uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc = kTable[(crc ^ static_cast<uint8_t>(byte)) & 0xff] ^ crc >> 8;
  }
  return ~crc;
}

uint32_t StoredCrc(absl::string_view header) {
  uint32_t masked = 0;
  for (int i = 3; i >= 0; --i) {
    masked = masked << 8 | static_cast<uint8_t>(header[i]);
  }
  const uint32_t rotated = masked - 0xa282ead8u;
  return rotated >> 17 | rotated << 15;
}

size_t StoredLength(absl::string_view header) {
  return static_cast<uint8_t>(header[4]) |
         static_cast<size_t>(static_cast<uint8_t>(header[5])) << 8;
}

bool HasCrcOf(absl::string_view header, size_t length) {
  return Crc32c(header.substr(6, length + 1)) == StoredCrc(header);
}

// Whether a whole record with a right checksum begins here.
bool IsWholeRecord(absl::string_view bytes) {
  if (bytes.size() < kHeaderBytes) return false;
  const int type = static_cast<uint8_t>(bytes[6]);
  const size_t length = StoredLength(bytes);
  return type >= 1 && type <= kLastType &&
         kHeaderBytes + length <= bytes.size() && HasCrcOf(bytes, length);
}

absl::Status ReadLastBlock(leveldb::Env* env, const std::string& name,
                           std::string* block) {
  uint64_t size = 0;
  leveldb::Status status = env->GetFileSize(name, &size);
  block->clear();
  if (status.ok() && size % kBlockBytes != 0) {
    leveldb::RandomAccessFile* opened = nullptr;
    status = env->NewRandomAccessFile(name, &opened);
    std::unique_ptr<leveldb::RandomAccessFile> file(opened);
    if (status.ok()) {
      block->resize(size % kBlockBytes);
      leveldb::Slice read;
      status =
          file->Read(size - block->size(), block->size(), &read, block->data());
      if (status.ok()) block->assign(std::string(read.data(), read.size()));
    }
  }
  if (status.ok()) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("cannot read ", name, ": ", status.ToString()));
}

}  // namespace

bool IsDamagedLogEnd(absl::string_view block) {
  size_t at = 0;
  while (at + kHeaderBytes <= block.size()) {
    const absl::string_view rest = block.substr(at);
    const size_t length = StoredLength(rest);
    if (kHeaderBytes + length <= rest.size()) {
      at += kHeaderBytes + length;  // LevelDB checks it itself
      continue;
    }
    // It runs past the end. A stopped write leaves nothing behind it, and less
    // of the payload than its checksum is of.
    if (HasCrcOf(rest, rest.size() - kHeaderBytes)) return true;
    for (size_t next = at + 1; next < block.size(); ++next) {
      if (IsWholeRecord(block.substr(next))) return true;
    }
    return false;
  }
  return false;
}

absl::Status CheckLogEnds(leveldb::Env* env, const std::string& dir) {
  std::vector<std::string> names;
  const leveldb::Status listed = env->GetChildren(dir, &names);
  if (!listed.ok()) {
    return absl::DataLossError(
        absl::StrCat("cannot read ", dir, ": ", listed.ToString()));
  }
  std::string manifest;
  if (!leveldb::ReadFileToString(env, dir + "/CURRENT", &manifest).ok()) {
    return absl::DataLossError(absl::StrCat(dir, "/CURRENT is missing"));
  }
  manifest = std::string(absl::StripSuffix(manifest, "\n"));
  bool has_log = false;
  for (const std::string& name : names) {
    const bool is_log = absl::EndsWith(name, ".log");
    has_log = has_log || is_log;
    if (!is_log && name != manifest) continue;
    std::string block;
    const std::string path = absl::StrCat(dir, "/", name);
    absl::Status status = ReadLastBlock(env, path, &block);
    if (!status.ok()) return status;
    if (IsDamagedLogEnd(block)) {
      return absl::DataLossError(
          absl::StrCat(path, ": a record's length near the end is damaged"));
    }
  }
  if (!has_log) {
    return absl::DataLossError(absl::StrCat(dir, ": the log file is missing"));
  }
  return absl::OkStatus();
}

}  // namespace casement::state
