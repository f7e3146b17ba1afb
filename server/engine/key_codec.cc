#include "server/engine/key_codec.h"

#include <bit>
#include <cmath>
#include <limits>

#include "absl/strings/string_view.h"
#include "server/engine/codec.h"
#include "server/engine/error.h"
#include "server/engine/result.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace casement::engine {
namespace {

enum Tag : uint8_t {
  kNullTag = 0,
  kInt64Tag = 1,
  kDoubleTag = 2,
  kBoolTag = 3,
  kStringTag = 4,
  kBytesTag = 5,
};
constexpr uint64_t kSignBit = uint64_t{1} << 63;
constexpr char kEscape = '\0';
constexpr char kZeroByte = '\xff';
constexpr char kEnd = '\x01';

void AppendBigEndian(uint64_t value, std::string* out) {
  for (int shift = 56; shift >= 0; shift -= 8) {
    out->push_back(static_cast<char>(value >> shift));
  }
}

uint64_t ReadBigEndian(Decoder* in) {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = (value << 8) | in->Byte();
  return value;
}

// Orders as the numbers do: negative ones have all bits flipped.
uint64_t OrderedBits(double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(Canonical(value));
  return (bits & kSignBit) != 0 ? ~bits : bits | kSignBit;
}

double FromOrderedBits(uint64_t bits) {
  return std::bit_cast<double>((bits & kSignBit) != 0 ? bits & ~kSignBit
                                                      : ~bits);
}

void AppendText(absl::string_view text, std::string* out) {
  for (const char c : text) {
    out->push_back(c);
    if (c == kEscape) out->push_back(kZeroByte);
  }
  out->push_back(kEscape);
  out->push_back(kEnd);
}

std::string ReadText(Decoder* in) {
  std::string text;
  while (in->ok()) {
    const char c = static_cast<char>(in->Byte());
    if (c != kEscape) {
      text.push_back(c);
      continue;
    }
    const char next = static_cast<char>(in->Byte());
    if (next == kEnd) break;
    if (next != kZeroByte) in->Fail();
    text.push_back(kEscape);
  }
  return text;
}

}  // namespace

double Canonical(double value) {
  if (std::isnan(value)) return std::numeric_limits<double>::quiet_NaN();
  return value + 0.0;  // -0.0 + 0.0 is 0.0
}

void AppendKeyPart(const EventBatch& batch, const Column& column,
                   FieldType type, int row, std::string* key) {
  if (column.IsNull(row)) {
    key->push_back(kNullTag);
    return;
  }
  switch (type) {
    case FieldType::kInt64:
      key->push_back(kInt64Tag);
      AppendBigEndian(static_cast<uint64_t>(column.int64s[row]) ^ kSignBit,
                      key);
      return;
    case FieldType::kDouble:
      key->push_back(kDoubleTag);
      AppendBigEndian(OrderedBits(column.doubles[row]), key);
      return;
    case FieldType::kBool:
      key->push_back(kBoolTag);
      key->push_back(column.int64s[row] != 0 ? 1 : 0);
      return;
    case FieldType::kString:
    case FieldType::kBytes:
      key->push_back(type == FieldType::kString ? kStringTag : kBytesTag);
      AppendText(batch.symbols[column.symbols[row]], key);
      return;
  }
}

uint32_t PartitionOf(absl::string_view key) {
  return static_cast<uint32_t>(XXH3_64bits(key.data(), key.size()) %
                               kPartitions);
}

absl::StatusOr<std::vector<ScalarValue>> DecodeKey(absl::string_view key) {
  Decoder in(key);
  std::vector<ScalarValue> parts;
  while (in.ok() && in.remaining() > 0) {
    switch (in.Byte()) {
      case kNullTag:
        parts.emplace_back();
        break;
      case kInt64Tag:
        parts.emplace_back(static_cast<int64_t>(ReadBigEndian(&in) ^ kSignBit));
        break;
      case kDoubleTag:
        parts.emplace_back(FromOrderedBits(ReadBigEndian(&in)));
        break;
      case kBoolTag:
        parts.emplace_back(in.Enum(0, 1) != 0);
        break;
      case kStringTag:
        parts.emplace_back(ReadText(&in));
        break;
      case kBytesTag:
        parts.emplace_back(Bytes{ReadText(&in)});
        break;
      default:
        in.Fail();
    }
  }
  if (!in.ok()) {
    return MakeError(absl::StatusCode::kDataLoss, kStoreCorrupt,
                     "a stored key is damaged");
  }
  return parts;
}

}  // namespace casement::engine
