// What differs between the engine and the model, in words; empty: nothing.
#ifndef CASEMENT_TESTS_MODEL_COMPARE_H_
#define CASEMENT_TESTS_MODEL_COMPARE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "server/engine/stream.h"
#include "tests/model/model.h"

namespace casement::model {

// Answers of Admit to a batch.
std::string Difference(
    const ExpectedAdmission& expected,
    const absl::StatusOr<std::optional<engine::BatchAck>>& got);

// Changes by a record, which `model` has folded.
std::string Difference(const Outcome& expected, const Model& model,
                       bool want_fates, const engine::Changes& got);

// Accounts, progress and producers.
std::string DifferenceOfState(const Model& model, const engine::Stream& stream);

}  // namespace casement::model

#endif  // CASEMENT_TESTS_MODEL_COMPARE_H_
