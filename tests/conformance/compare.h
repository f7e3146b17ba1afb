// Compares what a case expects with what the service sent, and says in words
// what differs.

#ifndef CASEMENT_TESTS_CONFORMANCE_COMPARE_H_
#define CASEMENT_TESTS_CONFORMANCE_COMPARE_H_

#include <optional>
#include <string>
#include <vector>

#include "tests/conformance/case.h"
#include "tests/conformance/outcome.h"
#include "tests/conformance/pipeline.h"

namespace casement::conformance {

// Equal, both NaN, or no further apart than the tolerance allows.
bool SameDouble(double a, double b, const Tolerance& tolerance);
// Neighbouring doubles at most.
bool WithinOneUlp(double a, double b);

// Equal to the last bit, with no room for doubles (but that either zero will
// do, and that all NaN are one).
bool SameValue(const AggValue& a, const AggValue& b);
bool SameRow(const WindowRow& a, const WindowRow& b);

std::string Describe(const WindowRow& row);
std::string Describe(const Watermark& watermark);

class Comparer {
 public:
  // Without a tolerance, double sums and means may be one unit in the last
  // place off, everything else must be equal.
  Comparer(const Pipeline& pipeline, std::optional<Tolerance> tolerance);

  // Each entry is one difference.
  std::vector<std::string> Compare(const StepOutcome& expected,
                                   const StepOutcome& sent) const;
  std::vector<std::string> Compare(const EndOutcome& expected,
                                   const EndOutcome& sent) const;

 private:
  bool Agree(const WindowRow& expected, const WindowRow& sent) const;
  bool AgreeOn(size_t aggregate, const AggValue& expected,
               const AggValue& sent) const;
  void CompareRows(const std::string& what,
                   const std::vector<WindowRow>& expected,
                   const std::vector<WindowRow>& sent,
                   std::vector<std::string>* differences) const;

  std::optional<Tolerance> tolerance_;
  // For each aggregate: whether one unit in the last place is allowed.
  std::vector<bool> one_ulp_;
};

}  // namespace casement::conformance

#endif  // CASEMENT_TESTS_CONFORMANCE_COMPARE_H_
