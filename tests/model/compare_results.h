// Results of the engine beside those of the model, field by field.
#ifndef CASEMENT_TESTS_MODEL_COMPARE_RESULTS_H_
#define CASEMENT_TESTS_MODEL_COMPARE_RESULTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "server/engine/result.h"
#include "server/engine/stream.h"
#include "tests/model/view_model.h"

namespace casement::model {

// The first difference in words; empty: none.
std::string DifferenceOfResults(const std::vector<ExpectedResult>& expected,
                                const std::vector<engine::Result>& got);

// The results of a view's changes; or what is wrong with how they are stored:
// rows, log entries and their places must tell the same.
std::string DecodeResults(const engine::ViewChanges& changes,
                          engine::Version version,
                          std::vector<engine::Result>* results);

// All open windows of a view, read in pages of random size.
std::string DifferenceOfOpenWindows(const ViewModel& view, uint32_t number,
                                    const engine::Stream& stream,
                                    uint64_t seed);

std::string WindowText(const engine::Window& window);
std::string ToText(const ExpectedResult& result);
std::string ToText(const engine::Result& result);

}  // namespace casement::model

#endif  // CASEMENT_TESTS_MODEL_COMPARE_RESULTS_H_
