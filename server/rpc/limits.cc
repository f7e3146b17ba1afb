#include "server/rpc/limits.h"

#include "server/engine/spec.h"

namespace casement::rpc {

void SetLimits(v1::IngestLimits* limits) {
  limits->set_max_batch_bytes(kMaxColumnBatchBytes);
  limits->set_max_row_batch_bytes(kMaxRowBatchBytes);
  limits->set_max_batch_events(engine::kMaxBatchEvents);
  limits->set_max_in_flight_batches(kMaxInFlightBatches);
  limits->set_max_value_bytes(engine::kMaxValueBytes);
  limits->set_max_key_bytes(engine::kMaxKeyBytes);
}

}  // namespace casement::rpc
