// The model's producers and the watermark that follows from them. The
// watermark is worked out anew from all producers each time it is asked for.
#ifndef CASEMENT_TESTS_MODEL_PRODUCERS_H_
#define CASEMENT_TESTS_MODEL_PRODUCERS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "server/engine/spec.h"
#include "server/engine/stream.h"
#include "server/engine/types.h"

namespace casement::model {

struct ModelProducer {
  int64_t epoch = 0;
  int64_t last_sequence = 0;
  engine::SourceState state = engine::SourceState::kActive;
  bool spoken = false;
  std::optional<engine::TimeUs> asserted;
  // Of the events that may move the watermark.
  std::optional<engine::TimeUs> max_event_time;
  int64_t accepted = 0;
  int64_t rejected = 0;
  int64_t late = 0;
  std::string source_position;
  // By sequence: the digest of a batch and its answer.
  std::map<int64_t, std::pair<uint64_t, engine::BatchAck>> answers;

  engine::TimeUs Watermark(const engine::WatermarkSpec& spec) const;
};

using ModelProducers = std::map<std::string, ModelProducer>;

// The stream's watermark if it was `before` and may never go back.
engine::TimeUs StreamWatermark(const engine::WatermarkSpec& spec,
                               const ModelProducers& producers,
                               engine::TimeUs before);

// Whether `time` is ahead of the clock by more than the guard lets pass.
bool TooFarAhead(const engine::WatermarkSpec& spec, engine::TimeUs time,
                 std::optional<engine::TimeUs> clock);

// Whether a watermark has come to `time`, which may be beyond int64.
bool Reached(engine::TimeUs watermark, __int128 time);

}  // namespace casement::model

#endif  // CASEMENT_TESTS_MODEL_PRODUCERS_H_
