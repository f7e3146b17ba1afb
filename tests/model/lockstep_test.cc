// The engine equals the model after every record: results with all their
// fields and their order, open windows, accounts, acks, fates, producers.
#include "tests/model/lockstep.h"

#include <gtest/gtest.h>

#include <iostream>

#include "tests/model/generator.h"
#include "tests/model/options.h"
#include "tests/model/shrink.h"

namespace casement::model {
namespace {

bool Differs(const Script& script) {
  return !RunLockstep(script, nullptr).empty();
}

TEST(LockstepTest, EngineEqualsModel) {
  Coverage coverage;
  int runs = 0;
  ForEachSeed(600, [&](uint64_t seed) {
    ++runs;
    const Script script = Generate(seed);
    if (RunLockstep(script, &coverage).empty()) return;
    const Script small = Shrink(script, Differs);
    ADD_FAILURE() << RunLockstep(small, nullptr) << "\n" << ToText(small);
  });
  // The generator still gets everywhere.
  std::cout << ToText(coverage) << "\n";
  if (runs < 100) return;
  EXPECT_GT(coverage.finals, 1000);
  EXPECT_GT(coverage.early, 1000);
  EXPECT_GT(coverage.on_time, 200);
  EXPECT_GT(coverage.changed_late, 100);
  EXPECT_GT(coverage.replacing, 50);
  EXPECT_GT(coverage.retracted, 50);
  EXPECT_GT(coverage.late, 100);
  EXPECT_GT(coverage.late_places, 20);
  EXPECT_GT(coverage.unassigned, 20);
  EXPECT_GT(coverage.partial, 20);
  EXPECT_GT(coverage.rejects, 5);
  EXPECT_GT(coverage.refused, 20);
  EXPECT_GT(coverage.repeats, 20);
}

}  // namespace
}  // namespace casement::model
