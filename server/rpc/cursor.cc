// Cursor := Seal(1, store: fixed64, stream and view number: fixed64,
//                version: fixed64, index: fixed64)
#include "server/rpc/cursor.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "server/engine/error.h"
#include "server/rpc/seal.h"

namespace casement::rpc {
namespace {

constexpr uint8_t kFormat = 1;
constexpr uint64_t kKind = 0x63757273;  // "curs"

absl::Status CursorInvalid(absl::string_view cause, absl::string_view what) {
  return engine::MakeError(
      absl::StatusCode::kInvalidArgument, engine::kCursorInvalid,
      absl::StrCat("cursor ", what), {{"cause", std::string(cause)}});
}

}  // namespace

std::string EncodeCursor(const runtime::LogIdentity& log,
                         const runtime::LogPosition& position) {
  std::string content;
  PutFixed64(StableHash(log.store_id), &content);
  PutFixed64(uint64_t{log.stream_number} << 32 | log.view_number, &content);
  PutFixed64(static_cast<uint64_t>(position.version), &content);
  PutFixed64(static_cast<uint64_t>(position.index), &content);
  return Seal(kFormat, kKind, content);
}

absl::StatusOr<Cursor> DecodeCursor(absl::string_view bytes) {
  const std::optional<std::string> content = Unseal(kFormat, kKind, bytes);
  if (!content.has_value()) {
    return CursorInvalid("DAMAGED",
                         "is not one that this server made, or was altered");
  }
  absl::string_view rest = *content;
  Cursor cursor;
  uint64_t numbers = 0;
  uint64_t version = 0;
  uint64_t index = 0;
  if (!TakeFixed64(&rest, &cursor.store) || !TakeFixed64(&rest, &numbers) ||
      !TakeFixed64(&rest, &version) || !TakeFixed64(&rest, &index) ||
      !rest.empty()) {
    return CursorInvalid("DAMAGED", "is of no known form");
  }
  cursor.stream_number = static_cast<uint32_t>(numbers >> 32);
  cursor.view_number = static_cast<uint32_t>(numbers);
  cursor.position.version = static_cast<int64_t>(version);
  cursor.position.index = static_cast<int64_t>(index);
  if (cursor.position.version < 0 || cursor.position.index < -1) {
    return CursorInvalid("DAMAGED", "is of no known form");
  }
  return cursor;
}

absl::Status CheckCursor(const Cursor& cursor,
                         const runtime::LogIdentity& log) {
  if (cursor.store != StableHash(log.store_id)) {
    return CursorInvalid("OTHER_STORE", "is of another store");
  }
  if (cursor.stream_number != log.stream_number ||
      cursor.view_number != log.view_number) {
    return CursorInvalid("OTHER_VIEW",
                         "is of another view, or of an earlier one of this "
                         "name");
  }
  return absl::OkStatus();
}

}  // namespace casement::rpc
