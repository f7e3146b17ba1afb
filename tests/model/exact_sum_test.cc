// The judge of sums is itself judged by sums that are known.
#include "tests/model/exact_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/model/random.h"

namespace casement::model {
namespace {

double SumOf(const std::vector<double>& values) {
  ExactSum sum;
  for (const double value : values) sum.Add(value);
  return sum.Rounded();
}

TEST(ExactSumTest, KnownSums) {
  EXPECT_EQ(SumOf({}), 0.0);
  EXPECT_EQ(SumOf(std::vector<double>(10, 0.1)), 1.0);
  EXPECT_EQ(SumOf({1e100, 1.0, -1e100}), 1.0);
  EXPECT_EQ(SumOf({1e16, 1.0, 1e-16}), 10000000000000002.0);
  EXPECT_EQ(SumOf({1e16, 1.0}), 1e16);  // a tie, to even
  EXPECT_EQ(SumOf({5e-324, 5e-324}), 1e-323);
  EXPECT_EQ(SumOf({-5e-324, 1.0, -1.0}), -5e-324);
  const double greatest = std::numeric_limits<double>::max();
  EXPECT_EQ(SumOf({greatest, greatest, -greatest}), greatest);
  EXPECT_TRUE(std::isinf(SumOf({greatest, greatest})));
}

TEST(ExactSumTest, OneValueIsItself) {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const double value =
        std::ldexp(static_cast<double>(random.Between(-(1LL << 53), 1LL << 53)),
                   static_cast<int>(random.Between(-1130, 970)));
    EXPECT_EQ(SumOf({value}), value);
    EXPECT_EQ(SumOf({value, value, -value}), value);
    EXPECT_EQ(SumOf({value, 3.5}), value + 3.5);
  }
}

TEST(ExactSumTest, Quotients) {
  Random random(2);
  for (int i = 0; i < 2000; ++i) {
    const int64_t a = random.Between(-(1LL << 52), 1LL << 52);
    const int64_t b = random.Between(1, 1 << 20);
    ExactSum sum;
    sum.Add(static_cast<__int128>(a));
    EXPECT_EQ(sum.Quotient(b), static_cast<double>(a) / static_cast<double>(b));
  }
  ExactSum huge;
  huge.Add(static_cast<__int128>(std::numeric_limits<int64_t>::max()) * 4);
  EXPECT_EQ(huge.Quotient(4), 9223372036854775807.0);
}

}  // namespace
}  // namespace casement::model
