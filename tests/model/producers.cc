#include "tests/model/producers.h"

#include <algorithm>

namespace casement::model {

using engine::kEndOfTime;
using engine::kNoWatermark;
using engine::SourceState;
using engine::TimeUs;
using engine::WatermarkSpec;

TimeUs ModelProducer::Watermark(const WatermarkSpec& spec) const {
  TimeUs watermark = asserted.value_or(kNoWatermark);
  if (spec.source == engine::WatermarkSource::kBoundedDelay &&
      max_event_time.has_value()) {
    watermark = std::max(watermark, *max_event_time - spec.max_delay_us);
  }
  return watermark;
}

TimeUs StreamWatermark(const WatermarkSpec& spec,
                       const ModelProducers& producers, TimeUs before) {
  if (before == kEndOfTime) return before;
  if (spec.combine == engine::Combine::kGreatest) {
    TimeUs greatest = kNoWatermark;
    for (const auto& [id, producer] : producers) {
      greatest = std::max(greatest, producer.Watermark(spec));
    }
    return std::max(before, greatest);
  }
  TimeUs least = kEndOfTime;
  for (const std::string& id : spec.required_producers) {
    const auto found = producers.find(id);
    const bool left =
        found != producers.end() && found->second.state != SourceState::kActive;
    const bool spoken = found != producers.end() && found->second.spoken;
    if (!left && !spoken) return before;
  }
  for (const auto& [id, producer] : producers) {
    if (producer.spoken && producer.state == SourceState::kActive) {
      least = std::min(least, producer.Watermark(spec));
    }
  }
  // None counts: the watermark stands.
  return least == kEndOfTime ? before : std::max(before, least);
}

bool TooFarAhead(const WatermarkSpec& spec, TimeUs time,
                 std::optional<TimeUs> clock) {
  if (!clock.has_value()) return false;
  if (spec.future_action == engine::FutureAction::kAccept) return false;
  return static_cast<__int128>(time) - *clock > spec.max_future_skew_us;
}

bool Reached(TimeUs watermark, __int128 time) {
  if (watermark == kNoWatermark) return false;
  return watermark == kEndOfTime || watermark >= time;
}

}  // namespace casement::model
