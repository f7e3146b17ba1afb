#include "server/runtime/publication.h"

#include "absl/strings/str_cat.h"
#include "state/format.h"
#include "state/keys.h"
#include "state/status_macros.h"

namespace casement::runtime {

void EncodePublication(
    uint32_t stream, const engine::Changes& changes,
    absl::FunctionRef<void(PublicationPart part, uint32_t view,
                           absl::string_view key, absl::string_view value)>
        put) {
  state::LogChunkBuilder chunk;
  for (const engine::ViewChanges& view : changes.views) {
    int64_t first_index = 0;
    const auto end_chunk = [&] {
      put(PublicationPart::kLogChunk, view.view_number,
          state::LogKey(stream, view.view_number, changes.version, first_index),
          chunk.value());
      first_index += chunk.count();
      chunk.Clear();
    };
    for (const engine::ResultEntry& result : view.results) {
      chunk.Add(result.log_entry);
      if (chunk.bytes() >= state::kLogChunkBytes) end_chunk();
    }
    if (!chunk.empty()) end_chunk();
  }
  for (const engine::ViewChanges& view : changes.views) {
    for (const engine::ResultEntry& result : view.results) {
      if (result.row.empty()) continue;
      put(PublicationPart::kRow, view.view_number,
          state::RowKey(stream, view.view_number, result.closing_time,
                        result.start, result.key),
          result.row);
    }
  }
  for (const engine::ViewChanges& view : changes.views) {
    for (const engine::LateEntry& late : view.late_events) {
      put(PublicationPart::kLateEvent, view.view_number,
          state::LateKey(stream, view.view_number, changes.version,
                         static_cast<uint32_t>(late.index)),
          late.bytes);
    }
  }
}

PublicationVerifier::PublicationVerifier(state::Store* store,
                                         state::StoreWriter* writer,
                                         uint32_t stream, engine::Version from)
    : store_(store), writer_(writer), stream_(stream), from_(from) {}

state::LogCursor& PublicationVerifier::CursorOf(uint32_t view) {
  std::unique_ptr<state::LogCursor>& cursor = cursors_[view];
  if (cursor == nullptr) {
    cursor = std::make_unique<state::LogCursor>(*store_, stream_, view);
    cursor->Seek(from_ + 1, 0);
  }
  return *cursor;
}

absl::Status PublicationVerifier::Apply(const engine::Changes& changes) {
  absl::Status status;
  EncodePublication(stream_, changes,
                    [&](PublicationPart part, uint32_t view,
                        absl::string_view key, absl::string_view value) {
                      if (!status.ok()) return;
                      status = part == PublicationPart::kLogChunk
                                   ? ApplyChunk(view, key, value)
                                   : ApplyOther(key, value);
                    });
  return status;
}

absl::Status PublicationVerifier::Unexpected(
    uint32_t view, const state::LogCursor& cursor) const {
  return absl::DataLossError(
      absl::StrCat("the log of view number ", view, " has results of version ",
                   cursor.version(), " that the journal does not give"));
}

absl::Status PublicationVerifier::ApplyChunk(uint32_t view,
                                             absl::string_view key,
                                             absl::string_view value) {
  state::LogCursor& cursor = CursorOf(view);
  if (cursor.Valid() && cursor.chunk_key() < key) {
    return Unexpected(view, cursor);
  }
  if (!cursor.Valid() || cursor.chunk_key() != key) {
    RETURN_IF_ERROR(cursor.status());
    writer_->Put(key, value);
    return absl::OkStatus();
  }
  if (cursor.chunk() != value) {
    return absl::DataLossError(
        absl::StrCat("the log of view number ", view,
                     " has other results than the journal gives for version ",
                     cursor.version()));
  }
  cursor.NextChunk();
  return absl::OkStatus();
}

absl::Status PublicationVerifier::ApplyOther(absl::string_view key,
                                             absl::string_view value) {
  ASSIGN_OR_RETURN(const auto stored, store_->Get(key));
  if (!stored.has_value()) {
    writer_->Put(key, value);
    return absl::OkStatus();
  }
  if (*stored == value) return absl::OkStatus();
  return absl::DataLossError(
      "a stored row or late event differs from what the journal gives");
}

absl::Status PublicationVerifier::Finish(const engine::Stream& stream) {
  for (const engine::Stream::ViewInfo& view : stream.ListViews()) {
    const state::LogCursor& cursor = CursorOf(view.number);
    if (cursor.Valid()) return Unexpected(view.number, cursor);
    RETURN_IF_ERROR(cursor.status());
  }
  return absl::OkStatus();
}

}  // namespace casement::runtime
