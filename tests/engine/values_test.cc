// Numbers: sums, quotients, keys, digests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "server/engine/double_sum.h"
#include "server/engine/int_sum.h"
#include "server/engine/key_codec.h"
#include "server/engine/result.h"
#include "server/engine/window_grid.h"

namespace casement::engine {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double SumOf(const std::vector<double>& values) {
  DoubleSum sum;
  for (const double value : values) sum.Add(value);
  return sum.Total();
}

TEST(DoubleSumTest, CancelsWithoutResidue) {
  EXPECT_EQ(SumOf({1e16, 1.0, -1e16}), 1.0);
  EXPECT_EQ(SumOf({1e308, 1e308, -1e308}), 1e308);
  EXPECT_EQ(SumOf({5e-324, 5e-324}), 1e-323);
  EXPECT_EQ(SumOf({1e308, 1e308}), kInfinity);
  EXPECT_FALSE(std::signbit(SumOf({-0.0})));
}

TEST(DoubleSumTest, NaNAndInfinitiesStayApart) {
  EXPECT_EQ(SumOf({kInfinity, 1}), kInfinity);
  EXPECT_EQ(SumOf({-kInfinity, 1}), -kInfinity);
  EXPECT_TRUE(std::isnan(SumOf({kInfinity, -kInfinity})));
  EXPECT_TRUE(std::isnan(SumOf({std::nan(""), 1})));
}

TEST(DoubleSumTest, OrderAndGroupingDoNotShow) {
  std::mt19937_64 random(7);
  std::uniform_int_distribution<int64_t> cents(-1'000'000, 1'000'000);
  std::vector<double> values(1000);
  for (double& value : values) value = static_cast<double>(cents(random)) / 100;
  const double total = SumOf(values);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(values.begin(), values.end(), random);
    DoubleSum left;
    DoubleSum right;
    for (size_t i = 0; i < values.size(); ++i) {
      (i % 3 == 0 ? left : right).Add(values[i]);
    }
    left.Add(right);
    EXPECT_EQ(left.Total(), total);
  }
}

TEST(DoubleSumTest, AMeanExistsWhereTheSumOverflows) {
  DoubleSum sum;
  sum.Add(1.5e308);
  sum.Add(1.5e308);
  EXPECT_EQ(sum.Quotient(2), 1.5e308);
}

TEST(IntSumTest, QuotientsAreRoundedOnce) {
  EXPECT_EQ(Quotient(1, 3), 1.0 / 3.0);
  EXPECT_EQ(Quotient(-7, 2), -3.5);
  EXPECT_EQ(Quotient(0, 5), 0.0);
  // 2^53 + 1 over 1 is a tie that goes to even; over 3 it is not one.
  const Int128 big = (Int128{1} << 53) + 1;
  EXPECT_EQ(Quotient(big, 1), 9007199254740992.0);
  EXPECT_EQ(Quotient(big + 2, 1), 9007199254740996.0);
  const Int128 max = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Quotient(max * 1000, 1000), 9223372036854775808.0);
}

TEST(IntSumTest, DecimalTextIsExact) {
  const Int128 min = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(ToDecimal(min * 3), "-27670116110564327424");
  EXPECT_TRUE(FitsInt64(min));
  EXPECT_FALSE(FitsInt64(min - 1));
}

EventBatch OneRow(const ScalarValue& value, FieldType* type) {
  EventBatch batch;
  batch.times = {0};
  Column column;
  column.present = !std::holds_alternative<std::monostate>(value);
  if (const auto* number = std::get_if<int64_t>(&value)) {
    *type = FieldType::kInt64;
    column.int64s = {*number};
  } else if (const auto* real = std::get_if<double>(&value)) {
    *type = FieldType::kDouble;
    column.doubles = {*real};
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    *type = FieldType::kString;
    column.symbols = {batch.symbols.Add(*text)};
  }
  batch.columns.push_back(column);
  return batch;
}

std::string KeyOf(const ScalarValue& value) {
  FieldType type = FieldType::kInt64;
  const EventBatch batch = OneRow(value, &type);
  std::string key;
  AppendKeyPart(batch, batch.columns[0], type, 0, &key);
  return key;
}

TEST(KeyCodecTest, KeysOrderAsTheirValues) {
  const std::vector<std::vector<ScalarValue>> ascending = {
      {std::monostate(), std::numeric_limits<int64_t>::min(), int64_t{-1},
       int64_t{0}, std::numeric_limits<int64_t>::max()},
      {std::monostate(), -kInfinity, -1.5, 0.0, 5e-324, kInfinity,
       std::nan("")},
      {std::monostate(), std::string(), std::string("\0", 1),
       std::string("\0\0", 2), std::string("\0\x01", 2), std::string("a"),
       std::string("a\0", 2), std::string("aa"), std::string("\xff")},
  };
  for (const auto& values : ascending) {
    for (size_t i = 1; i < values.size(); ++i) {
      EXPECT_LT(KeyOf(values[i - 1]), KeyOf(values[i])) << i;
    }
    for (const ScalarValue& value : values) {
      const auto parts = DecodeKey(KeyOf(value));
      ASSERT_TRUE(parts.ok());
      ASSERT_EQ(parts->size(), 1u);
      if (const auto* real = std::get_if<double>(&value);
          real != nullptr && std::isnan(*real)) {
        EXPECT_TRUE(std::isnan(std::get<double>((*parts)[0])));
      } else {
        EXPECT_EQ((*parts)[0], value);
      }
    }
  }
  EXPECT_EQ(KeyOf(-0.0), KeyOf(0.0));
}

TEST(DigestTest, TheLayoutOfTheDictionaryDoesNotShow) {
  EventBatch one;
  one.sent_count = 2;
  one.times = {1, 2};
  one.columns.resize(1);
  one.columns[0].present = true;
  one.symbols.Add("x");
  one.symbols.Add("y");
  one.columns[0].symbols = {0, 1};
  EventBatch two = one;
  two.symbols.Clear();
  two.symbols.Add("");
  two.symbols.Add("y");
  two.symbols.Add("x");
  two.columns[0].symbols = {2, 1};
  EXPECT_EQ(DigestOf(one), DigestOf(two));
  two.columns[0].symbols = {1, 2};
  EXPECT_NE(DigestOf(one), DigestOf(two));
}

// Every time in a range, against windows found by walking.
TEST(WindowGridTest, AgreesWithWalking) {
  for (int64_t size = 1; size <= 7; ++size) {
    for (int64_t period = 1; period <= 7; ++period) {
      for (int64_t offset = -8; offset <= 8; offset += 3) {
        WindowSpec spec;
        spec.kind = WindowKind::kSliding;
        spec.size_us = size;
        spec.period_us = period;
        spec.offset_us = offset;
        const WindowGrid grid(spec);
        for (TimeUs t = -30; t <= 30; ++t) {
          const WindowGrid::Place place = grid.PlaceOf(t);
          ASSERT_LE(place.start, t);
          ASSERT_LT(t, place.end);
          int64_t held = 0;
          for (TimeUs start = -100; start <= 100; ++start) {
            if (FloorMod(start - offset, period) != 0) continue;
            if (start <= t && t < start + size) ++held;
          }
          ASSERT_EQ(std::max<int64_t>(0, place.last - place.first + 1), held);
          for (int64_t k = place.first; k <= place.last; ++k) {
            const Window window = grid.WindowAt(k);
            ASSERT_TRUE(window.start <= place.start && place.end <= window.end);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace casement::engine
