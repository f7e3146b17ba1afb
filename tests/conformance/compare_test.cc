#include "tests/conformance/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace casement::conformance {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

Pipeline Of(std::vector<Aggregate> aggregates) {
  Pipeline pipeline;
  pipeline.fields = {{"x", "int64"}, {"y", "double"}};
  pipeline.aggregates = std::move(aggregates);
  return pipeline;
}

WindowRow Row(Micros start, AggValue value) {
  WindowRow row;
  row.start = start;
  row.end = start + 10;
  row.values = {std::move(value)};
  return row;
}

StepOutcome Finals(std::vector<WindowRow> rows) {
  StepOutcome outcome;
  outcome.finals = std::move(rows);
  return outcome;
}

TEST(CompareTest, Doubles) {
  EXPECT_TRUE(SameDouble(0.0, -0.0, {}));
  EXPECT_TRUE(SameDouble(kNan, -kNan, {}));
  EXPECT_FALSE(SameDouble(kNan, 1.0, {1, 1}));
  EXPECT_FALSE(SameDouble(1.0, std::nextafter(1.0, 2.0), {}));
  EXPECT_TRUE(SameDouble(100.0, 101.0, {0.01, 0}));
  EXPECT_FALSE(SameDouble(100.0, 102.0, {0.01, 0}));
  EXPECT_TRUE(SameDouble(0.0, 0.5, {0, 0.5}));
  EXPECT_FALSE(SameDouble(kInfinity, -kInfinity, {1, 1}));
  EXPECT_FALSE(SameDouble(kInfinity, 1e308, {1, 1}));
  EXPECT_TRUE(SameDouble(kInfinity, kInfinity, {}));
}

TEST(CompareTest, OneUlp) {
  const double next = std::nextafter(0.1, 1.0);
  EXPECT_TRUE(WithinOneUlp(0.1, next));
  EXPECT_TRUE(WithinOneUlp(next, 0.1));
  EXPECT_FALSE(WithinOneUlp(0.1, std::nextafter(next, 1.0)));
  EXPECT_TRUE(WithinOneUlp(kNan, kNan));
  EXPECT_FALSE(WithinOneUlp(kNan, 0.1));
}

TEST(CompareTest, TheUlpIsForSumsAndMeansOfDoublesOnly) {
  const Aggregate sum_y = {"sum", "y", "s"};
  const Aggregate avg_x = {"avg", "x", "a"};
  const Aggregate max_y = {"max", "y", "m"};
  const double next = std::nextafter(0.1, 1.0);
  const StepOutcome expected = Finals({Row(0, AggValue::Double(0.1))});
  const StepOutcome sent = Finals({Row(0, AggValue::Double(next))});
  EXPECT_THAT(Comparer(Of({sum_y}), std::nullopt).Compare(expected, sent),
              IsEmpty());
  EXPECT_THAT(Comparer(Of({avg_x}), std::nullopt).Compare(expected, sent),
              SizeIs(2));
  EXPECT_THAT(Comparer(Of({max_y}), std::nullopt).Compare(expected, sent),
              SizeIs(2));
  // A case that gives a tolerance means that one.
  EXPECT_THAT(Comparer(Of({sum_y}), Tolerance{0, 0}).Compare(expected, sent),
              SizeIs(2));
  EXPECT_THAT(Comparer(Of({max_y}), Tolerance{1e-9, 0}).Compare(expected, sent),
              IsEmpty());
}

TEST(CompareTest, TypesAreNotMixedUp) {
  const Comparer comparer(Of({{"sum", "x", "s"}}), Tolerance{1, 1});
  const StepOutcome expected = Finals({Row(0, AggValue::Int64(5))});
  for (const AggValue& other :
       {AggValue::Double(5), AggValue::Decimal("5"), AggValue::Null(),
        AggValue::String("5"), AggValue::Int64(6)}) {
    EXPECT_THAT(comparer.Compare(expected, Finals({Row(0, other)})), SizeIs(2));
  }
}

TEST(CompareTest, RowsAreABag) {
  const Comparer comparer(Of({{"count", std::nullopt, "n"}}), std::nullopt);
  const WindowRow a = Row(0, AggValue::Int64(1));
  const WindowRow b = Row(10, AggValue::Int64(1));
  EXPECT_THAT(comparer.Compare(Finals({a, b}), Finals({b, a})), IsEmpty());
  EXPECT_THAT(comparer.Compare(Finals({a, a}), Finals({a})),
              ElementsAre(HasSubstr("finals lack")));
  EXPECT_THAT(comparer.Compare(Finals({a}), Finals({a, a})),
              ElementsAre(HasSubstr("finals have unexpected")));
  WindowRow keyed = a;
  keyed.key = "";
  EXPECT_THAT(comparer.Compare(Finals({a}), Finals({keyed})), SizeIs(2));
  WindowRow longer = a;
  longer.end = *a.end + 1;
  EXPECT_THAT(comparer.Compare(Finals({a}), Finals({longer})), SizeIs(2));
}

TEST(CompareTest, EveryPartOfAStepIsCompared) {
  const Comparer comparer(Of({}), std::nullopt);
  StepOutcome told;
  told.updates.push_back(Row(0, AggValue::Int64(1)));
  told.retracts.push_back({std::nullopt, 5});
  told.late = {"a"};
  told.late_windows = {{"a", 0, 10}};
  told.unassigned = {"b"};
  told.rejected = {{"c", "missing_time"}};
  told.duplicates = {"d"};
  EXPECT_THAT(comparer.Compare(told, told), IsEmpty());
  EXPECT_THAT(comparer.Compare(told, StepOutcome()), SizeIs(7));
  EXPECT_THAT(comparer.Compare(StepOutcome(), told), SizeIs(7));
  StepOutcome other = told;
  other.rejected[0].reason = "bad_value";
  EXPECT_THAT(
      comparer.Compare(told, other),
      ElementsAre(HasSubstr("c (missing_time)"), HasSubstr("c (bad_value)")));
}

TEST(CompareTest, WatermarksAreComparedWhereToldOf) {
  const Comparer comparer(Of({}), std::nullopt);
  StepOutcome expected;
  StepOutcome sent;
  sent.watermark = Watermark(Micros(7));
  EXPECT_THAT(comparer.Compare(expected, sent), IsEmpty());
  expected.watermark = Watermark(std::nullopt);
  EXPECT_THAT(comparer.Compare(expected, sent),
              ElementsAre(HasSubstr("expected none")));
  expected.watermark = Watermark(kPlusInfinity);
  EXPECT_THAT(comparer.Compare(expected, sent),
              ElementsAre(HasSubstr("expected +inf")));
  expected.watermark = Watermark(Micros(7));
  EXPECT_THAT(comparer.Compare(expected, sent), IsEmpty());
}

TEST(CompareTest, TheEnd) {
  const Comparer comparer(Of({{"count", std::nullopt, "n"}}), std::nullopt);
  EndOutcome expected;
  expected.open = {Row(0, AggValue::Int64(1))};
  expected.accepted = 1;
  expected.late = 2;
  EndOutcome sent = expected;
  EXPECT_THAT(comparer.Compare(expected, sent), IsEmpty());
  sent.accepted = 2;
  sent.late = 1;
  sent.open.clear();
  EXPECT_THAT(comparer.Compare(expected, sent), SizeIs(3));
}

}  // namespace
}  // namespace casement::conformance
