// Writes results as bytes (the reading side is result.h; the grammar is in
// result.cc). Used by the engine alone.
#ifndef CASEMENT_SERVER_ENGINE_RESULT_CODEC_H_
#define CASEMENT_SERVER_ENGINE_RESULT_CODEC_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/engine/codec.h"
#include "server/engine/result.h"

namespace casement::engine {

// A log entry up to its values: what every result says of itself.
struct ResultHeader {
  Window window;
  TimeUs closing_time = 0;
  Finality finality = Finality::kFinal;
  EmitReason reason = EmitReason::kNone;
  Timing timing = Timing::kNone;
  Finality retracted_finality = Finality::kProvisional;
  bool partial_span = false;
  int64_t event_count = 0;
  TimeUs first_event_time = 0;
  TimeUs last_event_time = 0;
  TimeUs final_at = 0;
};

void EncodeHeader(const ResultHeader& header, absl::string_view key,
                  const std::vector<Window>& replaced, Encoder* out);
// After the header: a count, then the values.
void EncodeValue(const AggregateValue& value, Encoder* out);
AggregateValue DecodeValue(Decoder* in);

}  // namespace casement::engine

#endif  // CASEMENT_SERVER_ENGINE_RESULT_CODEC_H_
