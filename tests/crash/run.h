// One run of the stress test on a data directory of its own: two producers,
// three subscribers of each of the three views, and a server that is killed so
// and so many times. Ends the stream and gives back what each subscriber
// gathered.

#ifndef CASEMENT_TESTS_CRASH_RUN_H_
#define CASEMENT_TESTS_CRASH_RUN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/crash/faults.h"
#include "tests/crash/finals.h"
#include "tests/crash/pace.h"
#include "tests/crash/views.h"

namespace casement::stress {

struct RunOptions {
  std::string binary;
  std::string directory;
  uint64_t seed = 0;
  int kills = 0;
  // What each producer sends; without it, until all kills are done.
  std::optional<Pace::Sequences> batches;
};

struct Gathered {
  std::string who;
  ViewKind view;
  Finals finals;
};

struct RunReport {
  // The number of batches that each producer sent.
  Pace::Sequences batches = {};
  int kills_while_starting = 0;
  int64_t resent_batches = 0;
  int64_t duplicate_batches = 0;
  int64_t repeated_rows = 0;
  int64_t provisional_rows = 0;
  int resumed_calls = 0;
  std::vector<Gathered> gathered;
};

// What must not happen goes to `faults`.
RunReport Run(const RunOptions& options, Faults& faults);

}  // namespace casement::stress

#endif  // CASEMENT_TESTS_CRASH_RUN_H_
