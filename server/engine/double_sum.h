// Sums of doubles that do not depend on the order of adding.
//
// Two double-double accumulators (Dekker 1971, Knuth TAOCP 2 4.2.2: TwoSum):
// one for values below 2^900, one, scaled by 2^-200, for those above, so that
// no sum overflows in between (1e308 + 1e308 - 1e308 is 1e308). Exact, and so
// independent of order, while the values of each span no more than 106 bits;
// rounded to within one unit in the last place at the end. NaN and the
// infinities are kept apart as flags.
//
// Looked at and left: Abseil and the standard library have no compensated sum;
// boost::multiprecision and __float128 (113 bits) are several times slower per
// event and no more exact; a full superaccumulator is, at 300 bytes a window
// and key.
#ifndef CASEMENT_SERVER_ENGINE_DOUBLE_SUM_H_
#define CASEMENT_SERVER_ENGINE_DOUBLE_SUM_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace casement::engine {

struct DoubleDouble {
  double high = 0;
  double low = 0;

  void Add(double value) {
    const double sum = high + value;
    const double part = sum - high;
    const double error = (high - (sum - part)) + (value - part);
    const double rest = low + error;
    high = sum + rest;
    low = rest - (high - sum);
  }
  void Add(const DoubleDouble& other) {
    Add(other.high);
    Add(other.low);
  }
  bool IsZero() const { return high == 0 && low == 0; }
};

struct DoubleSum {
  DoubleDouble normal;
  DoubleDouble huge;  // scaled by 2^-kScale
  uint64_t flags = 0;

  static constexpr uint64_t kNaN = 1;
  static constexpr uint64_t kPlusInfinity = 2;
  static constexpr uint64_t kMinusInfinity = 4;
  static constexpr int kHugeExponent = 900;
  static constexpr int kScale = 200;

  void Add(double value) {
    const uint64_t exponent = (std::bit_cast<uint64_t>(value) >> 52) & 0x7ff;
    if (exponent < 1023 + kHugeExponent) {
      normal.Add(value);
    } else if (exponent < 0x7ff) {
      huge.Add(std::ldexp(value, -kScale));
    } else {
      flags |= std::isnan(value) ? kNaN
               : value > 0       ? kPlusInfinity
                                 : kMinusInfinity;
    }
  }
  void Add(const DoubleSum& other) {
    normal.Add(other.normal);
    huge.Add(other.huge);
    flags |= other.flags;
  }

  double Total() const { return Quotient(1); }
  // The total divided by a positive count: of values whose total overflows too.
  double Quotient(int64_t count) const;
};

inline double DoubleSum::Quotient(int64_t count) const {
  if ((flags & kNaN) != 0 || (flags & (kPlusInfinity | kMinusInfinity)) ==
                                 (kPlusInfinity | kMinusInfinity)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (flags != 0) {
    return (flags & kPlusInfinity) != 0
               ? std::numeric_limits<double>::infinity()
               : -std::numeric_limits<double>::infinity();
  }
  DoubleDouble total = normal;
  int scale = 0;
  if (!huge.IsZero()) {
    total = huge;
    total.Add(std::ldexp(normal.high, -kScale));
    total.Add(std::ldexp(normal.low, -kScale));
    scale = kScale;
  }
  if (count != 1) {
    // One step of long division: the remainder is exact by fma.
    const double divisor = static_cast<double>(count);
    const double first = total.high / divisor;
    const double rest = std::fma(-first, divisor, total.high) + total.low;
    total.high = first + rest / divisor;
  }
  const double value = scale == 0 ? total.high : std::ldexp(total.high, scale);
  return value + 0.0;
}

}  // namespace casement::engine

#endif  // CASEMENT_SERVER_ENGINE_DOUBLE_SUM_H_
