// A stream's proto <-> its engine definition. Every field is checked here or by
// engine::ValidateStream; what this release can't do is UNIMPLEMENTED, never
// ignored. A stream goes out with every default spelled out.
#ifndef CASEMENT_SERVER_RPC_STREAM_CONVERSION_H_
#define CASEMENT_SERVER_RPC_STREAM_CONVERSION_H_

#include "absl/status/statusor.h"
#include "casement/v1/definition.pb.h"
#include "server/engine/spec.h"
#include "server/runtime/runtime.h"

namespace casement::rpc {

// Without its create_time.
absl::StatusOr<engine::StreamDefinition> ToStreamDefinition(
    const v1::CreateStreamRequest& request);

void SetStream(const runtime::StreamInfo& info, v1::Stream* stream);

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_STREAM_CONVERSION_H_
