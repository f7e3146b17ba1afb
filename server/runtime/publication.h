// What a record's changes are in the store: the chunks of the result logs, the
// rows and the late entries, as keys and values. The same changes give the same
// bytes, so that a replay can be compared with what the store has.
#ifndef CASEMENT_SERVER_RUNTIME_PUBLICATION_H_
#define CASEMENT_SERVER_RUNTIME_PUBLICATION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/engine/stream.h"
#include "state/result_reader.h"
#include "state/store.h"

namespace casement::runtime {

enum class PublicationPart { kLogChunk, kRow, kLateEvent };

// Log chunks first, then rows, then late entries; each by view.
void EncodePublication(
    uint32_t stream, const engine::Changes& changes,
    absl::FunctionRef<void(PublicationPart part, uint32_t view,
                           absl::string_view key, absl::string_view value)>
        put);

// Compares what a replay brings out again with what the store has, and writes
// what it lacks: its tail was not synced. What differs is damage.
class PublicationVerifier {
 public:
  // From the version after `from` on.
  PublicationVerifier(state::Store* store, state::StoreWriter* writer,
                      uint32_t stream, engine::Version from);

  // DATA_LOSS if the store has something else.
  absl::Status Apply(const engine::Changes& changes);

  // DATA_LOSS if the log of one of these views has more than the replay gave.
  absl::Status Finish(const engine::Stream& stream);

 private:
  state::LogCursor& CursorOf(uint32_t view);
  absl::Status ApplyChunk(uint32_t view, absl::string_view key,
                          absl::string_view value);
  absl::Status ApplyOther(absl::string_view key, absl::string_view value);
  absl::Status Unexpected(uint32_t view, const state::LogCursor& cursor) const;

  state::Store* const store_;
  state::StoreWriter* const writer_;
  const uint32_t stream_;
  const engine::Version from_;
  std::map<uint32_t, std::unique_ptr<state::LogCursor>> cursors_;
};

}  // namespace casement::runtime

#endif  // CASEMENT_SERVER_RUNTIME_PUBLICATION_H_
