#include "tests/model/values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tests/model/exact_sum.h"

namespace casement::model {
namespace {

using engine::AggregateValue;
using engine::Bytes;
using engine::Decimal;
using engine::FieldType;
using engine::Function;
using engine::MeanValue;
using engine::ScalarValue;

bool IsNull(const ScalarValue& value) {
  return std::holds_alternative<std::monostate>(value);
}

template <typename T>
int Order(const T& a, const T& b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

int OrderDoubles(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) {
    return static_cast<int>(std::isnan(a)) - static_cast<int>(std::isnan(b));
  }
  return Order(a, b);
}

AggregateValue ToAggregate(const ScalarValue& scalar) {
  return std::visit([](const auto& value) { return AggregateValue(value); },
                    scalar);
}

std::string DecimalText(__int128 value) {
  const bool negative = value < 0;
  unsigned __int128 rest = static_cast<unsigned __int128>(value);
  if (negative) rest = ~rest + 1;
  std::string text;
  do {
    text.insert(text.begin(),
                static_cast<char>('0' + static_cast<int>(rest % 10)));
    rest /= 10;
  } while (rest != 0);
  return negative ? "-" + text : text;
}

ScalarValue IntegerSum(__int128 sum) {
  if (sum >= std::numeric_limits<int64_t>::min() &&
      sum <= std::numeric_limits<int64_t>::max()) {
    return static_cast<int64_t>(sum);
  }
  return Decimal{DecimalText(sum)};
}

ExpectedValue AggregateIntegers(const std::vector<ScalarValue>& values,
                                bool mean) {
  __int128 sum = 0;
  for (const ScalarValue& value : values) sum += std::get<int64_t>(value);
  if (!mean) return {.value = ToAggregate(IntegerSum(sum))};
  ExactSum exact;
  exact.Add(sum);
  const int64_t count = static_cast<int64_t>(values.size());
  return {.value = MeanValue{exact.Quotient(count), IntegerSum(sum), count}};
}

// A sum of doubles and how far off it may be.
struct DoubleSum {
  ExactSum exact;
  std::optional<double> special;  // NaN or an infinity
  double slack = 0;
};

DoubleSum SumDoubles(const std::vector<ScalarValue>& values) {
  DoubleSum sum;
  bool nan = false;
  bool plus = false;
  bool minus = false;
  int top = std::numeric_limits<int>::min();
  int lowest = std::numeric_limits<int>::max();
  double magnitude = 0;
  for (const ScalarValue& value : values) {
    const double x = std::get<double>(value);
    nan = nan || std::isnan(x);
    plus = plus || x == std::numeric_limits<double>::infinity();
    minus = minus || x == -std::numeric_limits<double>::infinity();
    if (!std::isfinite(x) || x == 0) continue;
    sum.exact.Add(x);
    magnitude += std::ldexp(std::fabs(x), -96);
    int exponent = 0;
    const double fraction = std::frexp(std::fabs(x), &exponent);
    const auto mantissa = static_cast<uint64_t>(std::ldexp(fraction, 53));
    top = std::max(top, exponent);
    lowest = std::min(lowest, exponent - 53 + std::countr_zero(mantissa));
  }
  if (nan || (plus && minus)) {
    sum.special = std::numeric_limits<double>::quiet_NaN();
  } else if (plus || minus) {
    sum.special = plus ? std::numeric_limits<double>::infinity()
                       : -std::numeric_limits<double>::infinity();
  }
  // Room for the carries of so many values.
  const int carries = std::bit_width(values.size());
  if (top > lowest && top - lowest + carries > 104) sum.slack = magnitude;
  return sum;
}

ExpectedValue AggregateDoubles(const std::vector<ScalarValue>& values,
                               bool mean) {
  const DoubleSum sum = SumDoubles(values);
  const int64_t count = static_cast<int64_t>(values.size());
  const double total = sum.special ? *sum.special : sum.exact.Rounded();
  ExpectedValue expected{.value = {}, .one_ulp = true, .slack = sum.slack};
  if (mean) {
    const double value = sum.special ? *sum.special : sum.exact.Quotient(count);
    expected.value = MeanValue{value, total, count};
    expected.any_zero = true;  // of what is too small for a double
  } else {
    expected.value = total;
  }
  return expected;
}

ExpectedValue LeastOrGreatest(const std::vector<ScalarValue>& values,
                              bool greatest) {
  const ScalarValue* best = &values[0];
  for (const ScalarValue& value : values) {
    const int order = CompareScalars(value, *best);
    if (greatest ? order > 0 : order < 0) best = &value;
  }
  return {.value = ToAggregate(*best)};
}

bool SameDouble(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

bool CloseDouble(double want, double got, const ExpectedValue& expected) {
  if (SameDouble(want, got)) return true;
  if (!expected.one_ulp) return false;
  if (want == 0 && got == 0) return expected.any_zero;
  const double up =
      std::nextafter(want, std::numeric_limits<double>::infinity());
  const double down =
      std::nextafter(want, -std::numeric_limits<double>::infinity());
  return got == up || got == down || std::fabs(got - want) <= expected.slack;
}

bool CloseScalar(const ScalarValue& want, const ScalarValue& got,
                 const ExpectedValue& expected) {
  if (want.index() != got.index()) return false;
  if (const double* number = std::get_if<double>(&want)) {
    return CloseDouble(*number, std::get<double>(got), expected);
  }
  return want == got;
}

struct ToTextVisitor {
  std::string operator()(std::monostate) const { return "null"; }
  std::string operator()(int64_t value) const { return absl::StrCat(value); }
  std::string operator()(double value) const {
    return absl::StrFormat("%.17g", value);
  }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(const std::string& value) const {
    if (value.size() > 40) {
      return absl::StrCat("\"", absl::CEscape(value.substr(0, 40)), "...\"(",
                          value.size(), ")");
    }
    return absl::StrCat("\"", absl::CEscape(value), "\"");
  }
  std::string operator()(const Bytes& value) const {
    return absl::StrCat("b", (*this)(value.value));
  }
  std::string operator()(const Decimal& value) const {
    return absl::StrCat("decimal ", value.value);
  }
  std::string operator()(const MeanValue& value) const {
    return absl::StrCat("mean ", (*this)(value.value), " of ",
                        std::visit(*this, value.sum), "/", value.count);
  }
};

}  // namespace

ScalarValue Normalized(ScalarValue value) {
  if (double* number = std::get_if<double>(&value)) {
    if (*number == 0) *number = 0.0;
    if (std::isnan(*number)) {
      *number = std::numeric_limits<double>::quiet_NaN();
    }
  }
  return value;
}

int CompareScalars(const ScalarValue& a, const ScalarValue& b) {
  if (a.index() != b.index()) return Order(a.index(), b.index());
  if (std::holds_alternative<int64_t>(a)) {
    return Order(std::get<int64_t>(a), std::get<int64_t>(b));
  }
  if (std::holds_alternative<double>(a)) {
    return OrderDoubles(std::get<double>(a), std::get<double>(b));
  }
  if (std::holds_alternative<bool>(a)) {
    return Order(std::get<bool>(a), std::get<bool>(b));
  }
  if (std::holds_alternative<std::string>(a)) {
    return std::get<std::string>(a).compare(std::get<std::string>(b));
  }
  if (std::holds_alternative<Bytes>(a)) {
    return std::get<Bytes>(a).value.compare(std::get<Bytes>(b).value);
  }
  return 0;
}

int CompareKeys(const Key& a, const Key& b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const int order = CompareScalars(a[i], b[i]);
    if (order != 0) return order;
  }
  return Order(a.size(), b.size());
}

ExpectedValue Aggregate(const engine::AggregateSpec& aggregate, FieldType type,
                        const std::vector<ScalarValue>& all) {
  if (aggregate.field.empty())
    return {.value = static_cast<int64_t>(all.size())};
  std::vector<ScalarValue> values;
  for (const ScalarValue& value : all) {
    if (!IsNull(value)) values.push_back(Normalized(value));
  }
  if (aggregate.function == Function::kCount) {
    return {.value = static_cast<int64_t>(values.size())};
  }
  if (aggregate.function == Function::kDistinctCount) {
    auto less = [](const ScalarValue& a, const ScalarValue& b) {
      return CompareScalars(a, b) < 0;
    };
    const std::set<ScalarValue, decltype(less)> distinct(values.begin(),
                                                         values.end(), less);
    return {.value = static_cast<int64_t>(distinct.size())};
  }
  if (values.empty()) return {};
  if (aggregate.function == Function::kMin ||
      aggregate.function == Function::kMax) {
    return LeastOrGreatest(values, aggregate.function == Function::kMax);
  }
  const bool mean = aggregate.function == Function::kMean;
  return type == FieldType::kInt64 ? AggregateIntegers(values, mean)
                                   : AggregateDoubles(values, mean);
}

bool Matches(const ExpectedValue& expected, const AggregateValue& got) {
  if (expected.value.index() != got.index()) return false;
  if (const double* number = std::get_if<double>(&expected.value)) {
    return CloseDouble(*number, std::get<double>(got), expected);
  }
  if (const MeanValue* mean = std::get_if<MeanValue>(&expected.value)) {
    const MeanValue& other = std::get<MeanValue>(got);
    return CloseDouble(mean->value, other.value, expected) &&
           CloseScalar(mean->sum, other.sum, expected) &&
           mean->count == other.count;
  }
  return expected.value == got;
}

std::string ToText(const ScalarValue& value) {
  return std::visit(ToTextVisitor(), value);
}

std::string ToText(const AggregateValue& value) {
  return std::visit(ToTextVisitor(), value);
}

std::string ToText(const Key& key) {
  return absl::StrCat(
      "(",
      absl::StrJoin(key, ", ",
                    [](std::string* out, const ScalarValue& value) {
                      absl::StrAppend(out, ToText(value));
                    }),
      ")");
}

}  // namespace casement::model
