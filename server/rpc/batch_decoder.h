// A batch as it came, in either wire form -> a record for the engine. Works by
// batch, not by event; keep one for a call that sends many.
//
// An event's event_id is ignored: no stream that this server makes
// deduplicates events one by one.
#ifndef CASEMENT_SERVER_RPC_BATCH_DECODER_H_
#define CASEMENT_SERVER_RPC_BATCH_DECODER_H_

#include <memory>

#include "absl/status/status.h"
#include "casement/v1/ingest.pb.h"
#include "server/engine/record.h"
#include "server/engine/spec.h"
#include "server/rpc/column_decoder.h"
#include "server/rpc/row_decoder.h"

namespace casement::rpc {

class BatchDecoder {
 public:
  explicit BatchDecoder(std::shared_ptr<const engine::StreamSpec> stream);

  // Sets all but producer, epoch, arrival time and digest; events that are bad
  // by themselves are among its rejects. INVALID_ARGUMENT (MALFORMED_BATCH,
  // BATCH_TOO_LARGE, INVALID_FIELD) for a batch that is wrong as a whole.
  absl::Status Decode(const v1::Batch& batch, engine::BatchRecord* record);

 private:
  absl::Status DecodeEvents(const v1::Batch& batch, engine::EventBatch* events);

  std::shared_ptr<const engine::StreamSpec> stream_;
  RowDecoder rows_;
  ColumnDecoder columns_;
};

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_BATCH_DECODER_H_
