// The exact sum of any doubles and integers, rounded once when it is asked
// for. It is a fixed-point number as wide as the range of double, so no order
// of addition and no cancellation changes it.
#ifndef CASEMENT_TESTS_MODEL_EXACT_SUM_H_
#define CASEMENT_TESTS_MODEL_EXACT_SUM_H_

#include <array>
#include <cstdint>

namespace casement::model {

class ExactSum {
 public:
  void Add(double finite);
  void Add(__int128 integer);
  // The sum divided by n > 0, to the nearest double, ties to even.
  double Quotient(int64_t n) const;
  double Rounded() const { return Quotient(1); }

 private:
  // Digit i counts units of 2^(32 * i - kLowestBit). A double's lowest bit is
  // 2^-1074; the top leaves room for 2^40 times the greatest double.
  static constexpr int kLowestBit = 1088;
  static constexpr int kDigits = 70;

  void AddShifted(unsigned __int128 magnitude, bool negative, int bit);

  std::array<int64_t, kDigits> digits_{};
};

}  // namespace casement::model

#endif  // CASEMENT_TESTS_MODEL_EXACT_SUM_H_
