// A result row of the API in the case's form, with the checks that hold for
// every row whatever the case is about.

#ifndef CASEMENT_TESTS_CONFORMANCE_RESULTS_H_
#define CASEMENT_TESTS_CONFORMANCE_RESULTS_H_

#include "absl/status/statusor.h"
#include "casement/v1/result.pb.h"
#include "tests/conformance/ledger.h"
#include "tests/conformance/pipeline.h"

namespace casement::conformance {

// An error for a row that no service may send for this pipeline: another
// number of values, a session whose end is not its last event plus the gap, a
// provisional row that doesn't say when it will be final.
absl::StatusOr<SentRow> FromResult(const v1::WindowResult& result,
                                   const Pipeline& pipeline);

}  // namespace casement::conformance

#endif  // CASEMENT_TESTS_CONFORMANCE_RESULTS_H_
