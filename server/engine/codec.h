// Bytes of stored formats: varints, fixed-width numbers and length-prefixed
// strings. An Encoder appends; a Decoder never reads beyond its bytes, and once
// it meets anything wrong every further read gives zero and ok() is false, so
// that a decoding function checks once, at its end.
#ifndef CASEMENT_SERVER_ENGINE_CODEC_H_
#define CASEMENT_SERVER_ENGINE_CODEC_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/string_view.h"

namespace casement::engine {

static_assert(std::endian::native == std::endian::little,
              "stored numbers are little-endian and copied as they are");

inline uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^
         static_cast<uint64_t>(value >> 63);
}
inline int64_t UnZigZag(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

class Encoder {
 public:
  explicit Encoder(std::string* out) : out_(*out) {}

  void Byte(uint8_t value) { out_.push_back(static_cast<char>(value)); }
  void Varint(uint64_t value) {
    char buffer[10];
    int size = 0;
    while (value >= 0x80) {
      buffer[size++] = static_cast<char>(value | 0x80);
      value >>= 7;
    }
    buffer[size++] = static_cast<char>(value);
    out_.append(buffer, size);
  }
  void Signed(int64_t value) { Varint(ZigZag(value)); }
  void Fixed64(uint64_t value) { Raw(&value, sizeof(value)); }
  void Double(double value) { Fixed64(std::bit_cast<uint64_t>(value)); }
  void String(absl::string_view value) {
    Varint(value.size());
    out_.append(value.data(), value.size());
  }
  void Raw(const void* data, size_t size) {
    out_.append(static_cast<const char*>(data), size);
  }

 private:
  std::string& out_;
};

class Decoder {
 public:
  explicit Decoder(absl::string_view bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  bool done() const { return ok_ && rest_.empty(); }
  size_t remaining() const { return rest_.size(); }
  void Fail() {
    ok_ = false;
    rest_ = absl::string_view();
  }

  uint8_t Byte() {
    if (rest_.empty()) {
      Fail();
      return 0;
    }
    const uint8_t value = static_cast<uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    return value;
  }
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      const uint8_t byte = Byte();
      if (shift == 63 && byte > 1) break;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return ok_ ? value : 0;
    }
    Fail();
    return 0;
  }
  int64_t Signed() { return UnZigZag(Varint()); }
  uint64_t Fixed64() {
    uint64_t value = 0;
    Raw(&value, sizeof(value));
    return value;
  }
  double Double() { return std::bit_cast<double>(Fixed64()); }
  absl::string_view String() {
    const uint64_t size = Varint();
    if (size > rest_.size()) {
      Fail();
      return absl::string_view();
    }
    const absl::string_view value = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return value;
  }
  void Raw(void* data, size_t size) {
    if (size == 0) return;
    if (size > rest_.size()) {
      Fail();
      std::memset(data, 0, size);
      return;
    }
    std::memcpy(data, rest_.data(), size);
    rest_.remove_prefix(size);
  }
  // A count of things that take at least `least_bytes` each: damaged bytes
  // can't make a caller allocate more than they are.
  uint64_t Count(size_t least_bytes) {
    const uint64_t count = Varint();
    if (least_bytes > 0 && count > rest_.size() / least_bytes) {
      Fail();
      return 0;
    }
    return count;
  }
  // An enum from 0 to `most`.
  uint8_t Enum(uint8_t least, uint8_t most) {
    const uint8_t value = Byte();
    if (value < least || value > most) {
      Fail();
      return least;
    }
    return value;
  }

 private:
  absl::string_view rest_;
  bool ok_ = true;
};

}  // namespace casement::engine

#endif  // CASEMENT_SERVER_ENGINE_CODEC_H_
