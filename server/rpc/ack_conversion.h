// Answers to a batch and what is known of a producer, on their way out.
#ifndef CASEMENT_SERVER_RPC_ACK_CONVERSION_H_
#define CASEMENT_SERVER_RPC_ACK_CONVERSION_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "casement/v1/ingest.pb.h"
#include "server/runtime/runtime.h"

namespace casement::rpc {

// `fates`: they were asked for.
void SetBatchAck(const runtime::AppendResult& result, bool fates,
                 v1::BatchAck* ack);

// Whether the answer tells more than that the batch was taken.
bool IsNotable(const runtime::AppendResult& result);

void SetProducer(absl::string_view stream, const engine::ProducerInfo& info,
                 v1::Producer* producer);

// Durability and report; INVALID_ARGUMENT for values that are not known. The
// names of the fields begin with `prefix`.
absl::StatusOr<runtime::AppendOptions> ToAppendOptions(
    absl::string_view prefix, v1::Durability durability, v1::Report report);

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_ACK_CONVERSION_H_
