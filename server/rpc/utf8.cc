#include "server/rpc/utf8.h"

#include <cstdint>
#include <cstring>

namespace casement::rpc {
namespace {

bool IsContinuation(char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }

// Length of the valid character at the front, or 0. `text` is not empty.
size_t CharacterLength(absl::string_view text) {
  const auto first = static_cast<uint8_t>(text[0]);
  if (first < 0x80) return 1;
  size_t length = 0;
  // The first continuation byte is what rules out overlong forms, surrogates
  // and code points past the last.
  uint8_t least = 0x80;
  uint8_t greatest = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) least = 0xA0;
    if (first == 0xED) greatest = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) least = 0x90;
    if (first == 0xF4) greatest = 0x8F;
  } else {
    return 0;
  }
  if (text.size() < length) return 0;
  const auto second = static_cast<uint8_t>(text[1]);
  if (second < least || second > greatest) return 0;
  for (size_t i = 2; i < length; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  return length;
}

// How many bytes at the front are ASCII, eight at a time.
size_t AsciiPrefix(absl::string_view text) {
  size_t done = 0;
  while (text.size() - done >= sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, text.data() + done, sizeof(word));
    if ((word & 0x8080808080808080u) != 0) break;
    done += sizeof(word);
  }
  return done;
}

}  // namespace

bool IsUtf8(absl::string_view bytes) {
  bytes.remove_prefix(AsciiPrefix(bytes));
  while (!bytes.empty()) {
    const size_t length = CharacterLength(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string ToUtf8(absl::string_view text, size_t max_bytes) {
  std::string clean;
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    const size_t taken = length == 0 ? 1 : length;
    if (clean.size() + taken > max_bytes) break;
    if (length == 0) {
      clean.push_back('?');
    } else {
      clean.append(text.data(), length);
    }
    text.remove_prefix(taken);
  }
  return clean;
}

}  // namespace casement::rpc
