// What a run of the property tests is asked to do: --seed=N or CASEMENT_SEED
// to see one failure again, CASEMENT_RUNS to try more or fewer pipelines.
#ifndef CASEMENT_TESTS_MODEL_OPTIONS_H_
#define CASEMENT_TESTS_MODEL_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <optional>

namespace casement::model {

// Takes --seed=N out of the arguments.
void ParseOptions(int argc, char** argv);

// Calls `run` with each seed of the test: the one asked for, or `runs` (if
// CASEMENT_RUNS doesn't say otherwise) counted from CASEMENT_FIRST_SEED. The
// seed is printed should the process die. Stops after a few failures.
void ForEachSeed(int runs, const std::function<void(uint64_t seed)>& run);

}  // namespace casement::model

#endif  // CASEMENT_TESTS_MODEL_OPTIONS_H_
