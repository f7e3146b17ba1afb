// Sealed := version: byte, content, checksum: fixed64 (XXH3 of all before it,
// seeded with the kind).
#include "server/rpc/seal.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace casement::rpc {
namespace {

constexpr size_t kChecksumBytes = 8;

}  // namespace

std::string Seal(uint8_t version, uint64_t kind, absl::string_view content) {
  std::string sealed;
  sealed.push_back(static_cast<char>(version));
  sealed.append(content.data(), content.size());
  PutFixed64(XXH3_64bits_withSeed(sealed.data(), sealed.size(), kind), &sealed);
  return sealed;
}

std::optional<std::string> Unseal(uint8_t version, uint64_t kind,
                                  absl::string_view sealed) {
  if (sealed.size() < 1 + kChecksumBytes) return std::nullopt;
  absl::string_view covered = sealed.substr(0, sealed.size() - kChecksumBytes);
  absl::string_view rest = sealed.substr(covered.size());
  uint64_t checksum = 0;
  TakeFixed64(&rest, &checksum);
  if (checksum != XXH3_64bits_withSeed(covered.data(), covered.size(), kind) ||
      static_cast<uint8_t>(covered[0]) != version) {
    return std::nullopt;
  }
  return std::string(covered.substr(1));
}

uint64_t StableHash(absl::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

void PutFixed64(uint64_t value, std::string* out) {
  for (int shift = 0; shift < 64; shift += 8) {
    out->push_back(static_cast<char>((value >> shift) & 0xFF));
  }
}

bool TakeFixed64(absl::string_view* in, uint64_t* value) {
  if (in->size() < 8) return false;
  *value = 0;
  for (int i = 0; i < 8; ++i) {
    *value |= uint64_t{static_cast<uint8_t>((*in)[i])} << (8 * i);
  }
  in->remove_prefix(8);
  return true;
}

}  // namespace casement::rpc
