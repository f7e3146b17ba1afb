// Opens a producer, also when answers get lost. What this is for: OpenProducer
// changes something (the epoch), so gRPC does not repeat it by itself. The one
// invariant: the epoch that is handed out came in an answer of the server's to
// this caller, so no one else holds it.

#ifndef CASEMENT_CLIENT_OPEN_PRODUCER_H_
#define CASEMENT_CLIENT_OPEN_PRODUCER_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "casement/v1/ingest.grpc.pb.h"
#include "client/backoff.h"

namespace casement::client {

// Tries until it has an answer, or until `deadline`. ABORTED: the request has
// an expected epoch, its answer was lost, and the epoch has gone up by one
// since: by this request or by another holder, which can't be told apart.
absl::StatusOr<v1::OpenProducerResponse> OpenProducer(
    v1::IngestService::StubInterface& stub,
    const v1::OpenProducerRequest& request, absl::Time deadline,
    const BackoffOptions& backoff);

}  // namespace casement::client

#endif  // CASEMENT_CLIENT_OPEN_PRODUCER_H_
