// What a batch's answer says about its events, in the words of the cases.

#ifndef CASEMENT_TESTS_CONFORMANCE_FATES_H_
#define CASEMENT_TESTS_CONFORMANCE_FATES_H_

#include <grpcpp/support/status.h>

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "casement/v1/ingest.pb.h"
#include "tests/conformance/case.h"

namespace casement::conformance {

// Adds the fates of a batch that was taken to `outcome`. Answers that
// contradict themselves are told in `faults`.
void ReadAck(const v1::BatchAck& ack, absl::Span<const Event* const> events,
             const Pipeline& pipeline, StepOutcome* outcome,
             std::vector<std::string>* faults);

// Adds the events of a batch that was refused whole, for its bad events or as
// a repeat with other content. False if the refusal is of another kind.
bool ReadRefusal(const grpc::Status& status,
                 absl::Span<const Event* const> events,
                 const Pipeline& pipeline, StepOutcome* outcome);

}  // namespace casement::conformance

#endif  // CASEMENT_TESTS_CONFORMANCE_FATES_H_
