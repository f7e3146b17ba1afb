// The producers of a stream: their epochs, sequences and remembered answers,
// and the watermark that follows from what each has said.
#ifndef CASEMENT_SERVER_ENGINE_PRODUCER_TABLE_H_
#define CASEMENT_SERVER_ENGINE_PRODUCER_TABLE_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "server/engine/codec.h"
#include "server/engine/spec.h"
#include "server/engine/stream.h"

namespace casement::engine {

struct ProducerState {
  struct Answer {
    uint64_t digest = 0;
    BatchAck ack;
  };

  ProducerInfo info;  // `watermark` is kept up by ProducerTable
  TimeUs asserted = kNoWatermark;
  bool spoken = false;
  // The last kRememberedAnswers, by sequence.
  std::deque<Answer> answers;
};

class ProducerTable {
 public:
  // `spec` outlives the table.
  explicit ProducerTable(const WatermarkSpec& spec);

  const ProducerState* Find(absl::string_view id) const;
  ProducerState* Find(absl::string_view id);
  // Makes it if it isn't there.
  ProducerState* FindOrAdd(absl::string_view id);
  size_t size() const { return producers_.size(); }
  size_t memory_bytes() const;

  // -- Watermark. While a batch is folded its producer is taken out of the
  // rest, so that each event costs no more than a comparison:
  //
  //   Rest rest = table.RestWithout(*producer);
  //   watermark = rest.With(watermark, own);   // after each event
  //   table.Update(producer, ...);             // at the end
  struct Rest {
    // The least of the others, or what is to be waited for.
    TimeUs least = kEndOfTime;
    bool greatest = false;

    // The stream's watermark, given the one before and this producer's own.
    TimeUs With(TimeUs before, TimeUs own) const {
      const TimeUs now = greatest ? own : std::min(own, least);
      return std::max(before, now);
    }
  };
  Rest RestWithout(const ProducerState& producer) const;

  // What a producer's words come to. A lower assertion or event time than
  // before does nothing.
  TimeUs OwnWatermark(TimeUs max_event_time, TimeUs asserted) const {
    if (spec_.source == WatermarkSource::kAsserted ||
        max_event_time == kNoWatermark) {
      return asserted;
    }
    return std::max(asserted, max_event_time - spec_.max_delay_us);
  }

  // Sets what a producer has said and is, after a batch: `spoke` if the batch
  // was speech, `state` if it named one.
  void Update(ProducerState* producer, TimeUs max_event_time, TimeUs asserted,
              bool spoke, SourceState state);
  // The stream's watermark, given the one before: for changes of who counts.
  TimeUs Watermark(TimeUs before) const;

  void Save(Encoder* out, const ProducerState& producer) const;
  bool Load(Decoder* in);
  const std::map<std::string, ProducerState, std::less<>>& all() const {
    return producers_;
  }

 private:
  static bool Counts(const ProducerState& producer) {
    return producer.spoken &&
           producer.info.source_state == SourceState::kActive;
  }
  void StartCounting(const ProducerState& producer);
  void StopCounting(const ProducerState& producer);

  const WatermarkSpec& spec_;
  // Named ones that have neither spoken nor said that they are idle or done.
  std::set<std::string, std::less<>> awaited_;
  std::map<std::string, ProducerState, std::less<>> producers_;
  std::multiset<TimeUs> counting_;  // the watermarks of those that count
};

}  // namespace casement::engine

#endif  // CASEMENT_SERVER_ENGINE_PRODUCER_TABLE_H_
