#include "client/open_producer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/names.h"
#include "client/status.h"

namespace casement::client {
namespace {

// One attempt may not use up all the time.
constexpr absl::Duration kAttempt = absl::Seconds(10);

void SetDeadline(absl::Time deadline, grpc::ClientContext* context) {
  context->set_deadline(
      absl::ToChronoTime(std::min(deadline, absl::Now() + kAttempt)));
}

// Whether a guarded request whose answer was lost can just be sent again.
absl::Status CheckGuard(v1::IngestService::StubInterface& stub,
                        const v1::OpenProducerRequest& request,
                        absl::Time deadline) {
  grpc::ClientContext context;
  SetDeadline(deadline, &context);
  v1::GetProducerRequest get;
  get.set_name(ProducerName(request.stream(), request.producer_id()));
  v1::Producer producer;
  const absl::Status status =
      FromGrpcStatus(stub.GetProducer(&context, get, &producer));
  if (!status.ok()) {
    // There was no producer before the request, and there is none now.
    return absl::IsNotFound(status) ? absl::OkStatus() : status;
  }
  if (producer.epoch() != request.expected_epoch() + 1) {
    return absl::OkStatus();  // The server decides, as it would have.
  }
  return absl::AbortedError(absl::StrCat(
      "the answer to OpenProducer was lost and the epoch is now ",
      producer.epoch(), ": this request or another holder raised it; open ",
      "again with expected_epoch ", producer.epoch(), " to take it over"));
}

}  // namespace

absl::StatusOr<v1::OpenProducerResponse> OpenProducer(
    v1::IngestService::StubInterface& stub,
    const v1::OpenProducerRequest& request, absl::Time deadline,
    const BackoffOptions& backoff_options) {
  Backoff backoff(backoff_options);
  bool answer_lost = false;
  while (true) {
    absl::Status status;
    if (answer_lost && request.has_expected_epoch()) {
      status = CheckGuard(stub, request, deadline);
    }
    if (status.ok()) {
      grpc::ClientContext context;
      SetDeadline(deadline, &context);
      v1::OpenProducerResponse response;
      status = FromGrpcStatus(stub.OpenProducer(&context, request, &response));
      if (status.ok()) return response;
      answer_lost = true;
    }
    if (!IsTransient(status)) return status;
    const absl::Duration wait = backoff.Next();
    if (absl::Now() + wait > deadline) return status;
    absl::SleepFor(wait);
  }
}

}  // namespace casement::client
