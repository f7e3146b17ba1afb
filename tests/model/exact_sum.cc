#include "tests/model/exact_sum.h"

#include <bit>
#include <cmath>

namespace casement::model {

void ExactSum::AddShifted(unsigned __int128 magnitude, bool negative, int bit) {
  int digit = bit / 32;
  // Up to 31 bits of shift would fall off the top of 128: split first.
  uint64_t carry = 0;
  const int shift = bit % 32;
  while (magnitude != 0 || carry != 0) {
    const uint64_t low = static_cast<uint32_t>(magnitude);
    const uint64_t shifted = (low << shift) | carry;
    const int64_t part = static_cast<uint32_t>(shifted);
    digits_[digit++] += negative ? -part : part;
    carry = shifted >> 32;
    magnitude >>= 32;
  }
}

void ExactSum::Add(double finite) {
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(finite), &exponent);
  // |finite| = mantissa * 2^(exponent - 53), mantissa a whole number.
  uint64_t mantissa = static_cast<uint64_t>(std::ldexp(fraction, 53));
  if (mantissa == 0) return;
  const int zeros = std::countr_zero(mantissa);
  mantissa >>= zeros;
  AddShifted(mantissa, finite < 0, exponent - 53 + zeros + kLowestBit);
}

void ExactSum::Add(__int128 integer) {
  const bool negative = integer < 0;
  unsigned __int128 magnitude = static_cast<unsigned __int128>(integer);
  if (negative) magnitude = ~magnitude + 1;
  AddShifted(magnitude, negative, kLowestBit);
}

double ExactSum::Quotient(int64_t n) const {
  std::array<int64_t, kDigits> digits = digits_;
  // Carry, so that all digits but the last are in [0, 2^32).
  auto carry = [&digits] {
    for (int i = 0; i + 1 < kDigits; ++i) {
      const int64_t low = digits[i] & 0xffffffff;
      digits[i + 1] += (digits[i] - low) >> 32;
      digits[i] = low;
    }
  };
  carry();
  const bool negative = digits[kDigits - 1] < 0;
  if (negative) {
    for (int64_t& digit : digits) digit = -digit;
    carry();
  }
  unsigned __int128 rest = 0;
  for (int i = kDigits - 1; i >= 0; --i) {
    rest = (rest << 32) | static_cast<uint64_t>(digits[i]);
    digits[i] = static_cast<int64_t>(rest / static_cast<uint64_t>(n));
    rest %= static_cast<uint64_t>(n);
  }
  bool sticky = rest != 0;
  auto bit = [&digits](int i) -> uint64_t {
    return (static_cast<uint64_t>(digits[i / 32]) >> (i % 32)) & 1;
  };
  int top = kDigits * 32 - 1;
  while (top >= 0 && bit(top) == 0) --top;
  if (top < 0) return 0.0;  // below half of the least double, or zero
  // The result's lowest bit; never below that of a subnormal.
  const int lowest = std::max(top - 52, kLowestBit - 1074);
  uint64_t mantissa = 0;
  for (int i = top; i >= lowest; --i) mantissa = (mantissa << 1) | bit(i);
  for (int i = 0; i < lowest - 1; ++i) sticky = sticky || bit(i) != 0;
  const bool half = bit(lowest - 1) != 0;
  if (half && (sticky || (mantissa & 1) != 0)) ++mantissa;
  const double value =
      std::ldexp(static_cast<double>(mantissa), lowest - kLowestBit);
  return negative ? -value : value;
}

}  // namespace casement::model
