// Opaque bytes that the server hands out and takes back (cursors, page tokens):
// a version byte, the content, and a check sum over both. It finds damage and
// mix-ups; it is no protection against forgery, and nothing depends on one.
#ifndef CASEMENT_SERVER_RPC_SEAL_H_
#define CASEMENT_SERVER_RPC_SEAL_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace casement::rpc {

// `kind` tells cursors and tokens apart.
std::string Seal(uint8_t version, uint64_t kind, absl::string_view content);

// The content; nothing if the bytes are not what Seal made of this version and
// kind.
std::optional<std::string> Unseal(uint8_t version, uint64_t kind,
                                  absl::string_view sealed);

// Stable over runs and machines.
uint64_t StableHash(absl::string_view bytes);

// Fixed-width numbers, the lowest byte first. Take* removes what it read and is
// false if too little is there.
void PutFixed64(uint64_t value, std::string* out);
bool TakeFixed64(absl::string_view* in, uint64_t* value);

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_SEAL_H_
