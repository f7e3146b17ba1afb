#include "server/engine/int_sum.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace casement::engine {
namespace {

using Uint128 = unsigned __int128;

constexpr int kSignificant = 53;  // bits of a double

int BitLength(Uint128 value) {
  const uint64_t high = static_cast<uint64_t>(value >> 64);
  const uint64_t low = static_cast<uint64_t>(value);
  if (high != 0) return 128 - __builtin_clzll(high);
  return low == 0 ? 0 : 64 - __builtin_clzll(low);
}

}  // namespace

bool FitsInt64(Int128 value) {
  return value >= std::numeric_limits<int64_t>::min() &&
         value <= std::numeric_limits<int64_t>::max();
}

std::string ToDecimal(Int128 value) {
  if (value == 0) return "0";
  const bool negative = value < 0;
  Uint128 rest =
      negative ? -static_cast<Uint128>(value) : static_cast<Uint128>(value);
  std::string digits;
  for (; rest > 0; rest /= 10) {
    digits.push_back(static_cast<char>('0' + static_cast<int>(rest % 10)));
  }
  if (negative) digits.push_back('-');
  std::reverse(digits.begin(), digits.end());
  return digits;
}

double Quotient(Int128 total, int64_t count) {
  const bool negative = total < 0;
  const Uint128 numerator =
      negative ? -static_cast<Uint128>(total) : static_cast<Uint128>(total);
  const Uint128 divisor = static_cast<Uint128>(count);
  // Long division in base 2, a bit at a time past the whole part, until there
  // are two bits more than a double holds; the last one is sticky. At most
  // 55 + 63 steps, once for each result.
  Uint128 quotient = numerator / divisor;
  Uint128 rest = numerator % divisor;
  int exponent = 0;
  while (rest != 0 && BitLength(quotient) < kSignificant + 2) {
    rest <<= 1;
    quotient <<= 1;
    if (rest >= divisor) {
      rest -= divisor;
      quotient |= 1;
    }
    --exponent;
  }
  bool sticky = rest != 0;
  int extra = BitLength(quotient) - kSignificant;
  if (extra > 0) {
    const Uint128 cut = quotient & ((Uint128{1} << extra) - 1);
    const Uint128 half = Uint128{1} << (extra - 1);
    quotient >>= extra;
    exponent += extra;
    if (cut > half || (cut == half && (sticky || (quotient & 1) != 0))) {
      ++quotient;
    }
  }
  const double value = std::ldexp(
      static_cast<double>(static_cast<uint64_t>(quotient)), exponent);
  return negative ? -value : value;
}

}  // namespace casement::engine
