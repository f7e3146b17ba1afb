// Whether bytes are text. Strings from column batches come as bytes and are
// checked here; and nothing that is not text may go into a proto's string,
// since other languages then can't read the whole message.
#ifndef CASEMENT_SERVER_RPC_UTF8_H_
#define CASEMENT_SERVER_RPC_UTF8_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace casement::rpc {

// As RFC 3629: no surrogates, no overlong forms, nothing above U+10FFFF.
bool IsUtf8(absl::string_view bytes);

// `text` with each byte that can't be part of UTF-8 as '?', cut at a character
// to at most `max_bytes`.
std::string ToUtf8(absl::string_view text, size_t max_bytes);

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_UTF8_H_
