// The engine and the model side by side over one script.
#ifndef CASEMENT_TESTS_MODEL_LOCKSTEP_H_
#define CASEMENT_TESTS_MODEL_LOCKSTEP_H_

#include <cstdint>
#include <string>

#include "tests/model/script.h"

namespace casement::model {

// How much of the ground a run has covered, so that a test can tell a
// generator that has gone barren.
struct Coverage {
  int64_t records = 0;
  int64_t events = 0;
  int64_t finals = 0;
  int64_t early = 0;
  int64_t on_time = 0;
  int64_t changed_late = 0;
  int64_t replacing = 0;  // rows that take the place of retracted ones
  int64_t retracted = 0;
  int64_t late = 0;
  int64_t late_places = 0;
  int64_t unassigned = 0;
  int64_t partial = 0;
  int64_t rejects = 0;  // by the fold
  int64_t refused = 0;
  int64_t repeats = 0;
  int64_t ended = 0;
};
std::string ToText(const Coverage& coverage);

// The first difference after any record, in words; empty: none. `coverage` may
// be null.
std::string RunLockstep(const Script& script, Coverage* coverage);

}  // namespace casement::model

#endif  // CASEMENT_TESTS_MODEL_LOCKSTEP_H_
