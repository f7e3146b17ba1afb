// An entry of a view's late ledger: an event that was late, with the watermark
// that refused it and the windows it missed. Enough to be read, followed, and
// replayed into a correction.
#ifndef CASEMENT_SERVER_ENGINE_LATE_ENTRY_H_
#define CASEMENT_SERVER_ENGINE_LATE_ENTRY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/engine/record.h"
#include "server/engine/result.h"
#include "server/engine/window_store.h"

namespace casement::engine {

struct LateEvent {
  std::string producer;
  int64_t sequence = 0;
  int32_t index = 0;  // in the batch as sent
  std::optional<TimeUs> arrival_time;
  TimeUs event_time = 0;
  TimeUs watermark = kNoWatermark;  // that refused it
  std::string key;                  // encoded
  // The windows it missed: `missed_count` of them, the first being
  // `first_missed`, each next one `period` later.
  Window first_missed;
  int64_t period = 0;
  int64_t missed_count = 0;
  std::vector<ScalarValue> fields;  // in the stream's order
};

std::string EncodeLateEvent(const BatchRecord& batch, const StreamSpec& stream,
                            const Refusal& refusal, absl::string_view key);
// DATA_LOSS for bytes that Encode did not make.
absl::StatusOr<LateEvent> DecodeLateEvent(absl::string_view bytes);

}  // namespace casement::engine

#endif  // CASEMENT_SERVER_ENGINE_LATE_ENTRY_H_
