// Makes a failing script small, so that a person can read it.
#ifndef CASEMENT_TESTS_MODEL_SHRINK_H_
#define CASEMENT_TESTS_MODEL_SHRINK_H_

#include <functional>

#include "tests/model/script.h"

namespace casement::model {

// Leaves out steps, events, aggregates, keys and statements, as long as
// `fails` stays true of what is left. `fails` is true of `script`.
Script Shrink(Script script, const std::function<bool(const Script&)>& fails);

}  // namespace casement::model

#endif  // CASEMENT_TESTS_MODEL_SHRINK_H_
