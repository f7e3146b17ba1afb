// What a client may send, as every answer that carries limits tells it.
#ifndef CASEMENT_SERVER_RPC_LIMITS_H_
#define CASEMENT_SERVER_RPC_LIMITS_H_

#include <cstddef>

#include "casement/v1/ingest.pb.h"

namespace casement::rpc {

inline constexpr size_t kMaxColumnBatchBytes = 1 << 20;
inline constexpr size_t kMaxRowBatchBytes = 3 << 20;
inline constexpr int kMaxInFlightBatches = 64;
inline constexpr int kMaxRejectExamples = 20;

// What gRPC takes at most in one message, here and in most clients.
inline constexpr int kMaxReceivedBytes = 4 << 20;

void SetLimits(v1::IngestLimits* limits);

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_LIMITS_H_
