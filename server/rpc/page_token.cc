// PageToken := base64(Seal(1, hash of the request: fixed64, position))
// WindowPlace := rows_version, in_open, closing_time, start, create_time:
//                fixed64 each, key
#include "server/rpc/page_token.h"

#include <algorithm>
#include <optional>

#include "absl/strings/escaping.h"
#include "server/engine/error.h"
#include "server/rpc/seal.h"

namespace casement::rpc {
namespace {

constexpr uint8_t kFormat = 1;
constexpr uint64_t kKind = 0x70616765;  // "page"

}  // namespace

std::string EncodePageToken(absl::string_view request,
                            absl::string_view position) {
  std::string content;
  PutFixed64(StableHash(request), &content);
  content.append(position.data(), position.size());
  return absl::WebSafeBase64Escape(Seal(kFormat, kKind, content));
}

absl::StatusOr<std::string> DecodePageToken(absl::string_view request,
                                            absl::string_view token) {
  if (token.empty()) return std::string();
  std::string sealed;
  // Bits that no byte uses are dropped in decoding, so compare the text too.
  if (!absl::WebSafeBase64Unescape(token, &sealed) ||
      absl::WebSafeBase64Escape(sealed) != token) {
    return PageTokenMismatch();
  }
  const std::optional<std::string> content = Unseal(kFormat, kKind, sealed);
  if (!content.has_value()) return PageTokenMismatch();
  absl::string_view rest = *content;
  uint64_t hash = 0;
  if (!TakeFixed64(&rest, &hash) || hash != StableHash(request)) {
    return PageTokenMismatch();
  }
  return std::string(rest);
}

std::string EncodeWindowPlace(const WindowPlace& place) {
  std::string bytes;
  PutFixed64(static_cast<uint64_t>(place.after.rows_version), &bytes);
  PutFixed64(place.after.in_open ? 1 : 0, &bytes);
  PutFixed64(static_cast<uint64_t>(place.after.closing_time), &bytes);
  PutFixed64(static_cast<uint64_t>(place.after.start), &bytes);
  PutFixed64(static_cast<uint64_t>(place.view_create_time), &bytes);
  bytes.append(place.after.key);
  return bytes;
}

absl::StatusOr<WindowPlace> DecodeWindowPlace(absl::string_view bytes) {
  uint64_t version = 0;
  uint64_t in_open = 0;
  uint64_t closing_time = 0;
  uint64_t start = 0;
  uint64_t create_time = 0;
  if (!TakeFixed64(&bytes, &version) || !TakeFixed64(&bytes, &in_open) ||
      !TakeFixed64(&bytes, &closing_time) || !TakeFixed64(&bytes, &start) ||
      !TakeFixed64(&bytes, &create_time)) {
    return PageTokenMismatch();
  }
  WindowPlace place;
  place.after.rows_version = static_cast<int64_t>(version);
  place.after.in_open = in_open != 0;
  place.after.closing_time = static_cast<int64_t>(closing_time);
  place.after.start = static_cast<int64_t>(start);
  place.after.key = std::string(bytes);
  place.view_create_time = static_cast<int64_t>(create_time);
  return place;
}

absl::Status PageTokenMismatch() {
  return engine::MakeError(
      absl::StatusCode::kInvalidArgument, engine::kPageTokenMismatch,
      "page_token is not one that this server gave for this request");
}

absl::StatusOr<int> PageSize(int32_t asked, int default_size, int most) {
  if (asked < 0) {
    return engine::InvalidField("page_size", "must not be negative");
  }
  return asked == 0 ? default_size : std::min<int>(asked, most);
}

}  // namespace casement::rpc
