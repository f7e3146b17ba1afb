#include "tests/conformance/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace casement::conformance {
namespace {

std::string DescribeKey(const MaybeKey& key) {
  return key.has_value() ? absl::StrCat("\"", absl::Utf8SafeCEscape(*key), "\"")
                         : "none";
}

std::string DescribeValue(const AggValue& value) {
  switch (value.kind) {
    case AggValue::Kind::kNull:
      return "null";
    case AggValue::Kind::kInt64:
      return absl::StrCat(value.int64_value);
    case AggValue::Kind::kDouble:
      // Always told from an int64.
      return absl::StrFormat("double %.17g", value.double_value);
    case AggValue::Kind::kString:
      return absl::StrCat("\"", absl::Utf8SafeCEscape(value.text), "\"");
    case AggValue::Kind::kDecimal:
      return absl::StrCat("decimal ", value.text);
  }
  return "?";
}

std::string DescribeGone(const KeyAndStart& gone) {
  return absl::StrCat("key ", DescribeKey(gone.key), " start ",
                      FormatTime(gone.start));
}

std::string DescribePlace(const LatePlace& place) {
  return absl::StrCat(place.id, " in ", FormatTime(place.start), " to ",
                      FormatTime(place.end));
}

// Bags of things that are equal when their descriptions are.
void CompareBags(const std::string& what, std::vector<std::string> expected,
                 std::vector<std::string> sent,
                 std::vector<std::string>* differences) {
  std::sort(expected.begin(), expected.end());
  std::sort(sent.begin(), sent.end());
  std::vector<std::string> missing;
  std::vector<std::string> more;
  std::set_difference(expected.begin(), expected.end(), sent.begin(),
                      sent.end(), std::back_inserter(missing));
  std::set_difference(sent.begin(), sent.end(), expected.begin(),
                      expected.end(), std::back_inserter(more));
  if (!missing.empty()) {
    differences->push_back(
        absl::StrCat(what, " lack ", absl::StrJoin(missing, ", ")));
  }
  if (!more.empty()) {
    differences->push_back(
        absl::StrCat(what, " have unexpected ", absl::StrJoin(more, ", ")));
  }
}

template <typename T, typename DescribeOne>
std::vector<std::string> DescribeAll(const std::vector<T>& things,
                                     DescribeOne describe) {
  std::vector<std::string> texts;
  for (const T& thing : things) texts.push_back(describe(thing));
  return texts;
}

void CompareWatermark(const std::optional<Watermark>& expected,
                      const std::optional<Watermark>& sent,
                      std::vector<std::string>* differences) {
  if (!expected.has_value() || expected == sent) return;
  differences->push_back(absl::StrCat(
      "watermark is ", sent.has_value() ? Describe(*sent) : "not told",
      ", expected ", Describe(*expected)));
}

void CompareCount(const char* what, std::optional<int64_t> expected,
                  std::optional<int64_t> sent,
                  std::vector<std::string>* differences) {
  if (!expected.has_value() || expected == sent) return;
  differences->push_back(
      absl::StrCat(what, " is ", sent.value_or(-1), ", expected ", *expected));
}

}  // namespace

bool SameDouble(double a, double b, const Tolerance& tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  if (std::isinf(a) || std::isinf(b)) return false;
  return std::abs(a - b) <=
         tolerance.rel * std::max(std::abs(a), std::abs(b)) + tolerance.abs;
}

bool WithinOneUlp(double a, double b) {
  return SameDouble(a, b, {}) ||
         std::nextafter(a, std::numeric_limits<double>::infinity()) == b ||
         std::nextafter(b, std::numeric_limits<double>::infinity()) == a;
}

bool SameValue(const AggValue& a, const AggValue& b) {
  return a.kind == b.kind && a.int64_value == b.int64_value &&
         SameDouble(a.double_value, b.double_value, {}) && a.text == b.text;
}

bool SameRow(const WindowRow& a, const WindowRow& b) {
  return a.key == b.key && a.start == b.start && a.end == b.end &&
         a.last == b.last &&
         std::equal(a.values.begin(), a.values.end(), b.values.begin(),
                    b.values.end(), SameValue);
}

std::string Describe(const WindowRow& row) {
  std::string text = absl::StrCat("[", FormatTime(row.start), ", ");
  if (row.end.has_value()) absl::StrAppend(&text, FormatTime(*row.end), ")");
  if (row.last.has_value()) {
    absl::StrAppend(&text, "last ", FormatTime(*row.last), "]");
  }
  if (row.key.has_value()) {
    absl::StrAppend(&text, " key ", DescribeKey(row.key));
  }
  return absl::StrCat(
      text, " (",
      absl::StrJoin(row.values, ", ",
                    [](std::string* out, const AggValue& value) {
                      out->append(DescribeValue(value));
                    }),
      ")");
}

std::string Describe(const Watermark& watermark) {
  return watermark.has_value() ? FormatTime(*watermark) : "none";
}

Comparer::Comparer(const Pipeline& pipeline, std::optional<Tolerance> tolerance)
    : tolerance_(tolerance) {
  for (const Aggregate& aggregate : pipeline.aggregates) {
    const bool of_doubles = aggregate.field.has_value() &&
                            pipeline.fields.count(*aggregate.field) > 0 &&
                            pipeline.fields.at(*aggregate.field) == "double";
    one_ulp_.push_back(!tolerance.has_value() && of_doubles &&
                       (aggregate.fn == "sum" || aggregate.fn == "avg"));
  }
}

bool Comparer::AgreeOn(size_t aggregate, const AggValue& expected,
                       const AggValue& sent) const {
  if (SameValue(expected, sent)) return true;
  if (expected.kind != AggValue::Kind::kDouble ||
      sent.kind != AggValue::Kind::kDouble) {
    return false;
  }
  if (tolerance_.has_value()) {
    return SameDouble(expected.double_value, sent.double_value, *tolerance_);
  }
  return one_ulp_[aggregate] &&
         WithinOneUlp(expected.double_value, sent.double_value);
}

bool Comparer::Agree(const WindowRow& expected, const WindowRow& sent) const {
  if (expected.key != sent.key || expected.start != sent.start ||
      expected.end != sent.end || expected.last != sent.last ||
      expected.values.size() != sent.values.size()) {
    return false;
  }
  for (size_t i = 0; i < expected.values.size(); ++i) {
    if (!AgreeOn(i, expected.values[i], sent.values[i])) return false;
  }
  return true;
}

void Comparer::CompareRows(const std::string& what,
                           const std::vector<WindowRow>& expected,
                           const std::vector<WindowRow>& sent,
                           std::vector<std::string>* differences) const {
  std::vector<WindowRow> more = sent;
  std::vector<std::string> missing;
  for (const WindowRow& row : expected) {
    auto match = std::find_if(
        more.begin(), more.end(),
        [&](const WindowRow& candidate) { return Agree(row, candidate); });
    if (match == more.end()) {
      missing.push_back(Describe(row));
    } else {
      more.erase(match);
    }
  }
  if (!missing.empty()) {
    differences->push_back(
        absl::StrCat(what, " lack ", absl::StrJoin(missing, ", ")));
  }
  if (!more.empty()) {
    differences->push_back(absl::StrCat(
        what, " have unexpected ",
        absl::StrJoin(
            DescribeAll(more,
                        [](const WindowRow& row) { return Describe(row); }),
            ", ")));
  }
}

std::vector<std::string> Comparer::Compare(const StepOutcome& expected,
                                           const StepOutcome& sent) const {
  std::vector<std::string> differences;
  CompareRows("finals", expected.finals, sent.finals, &differences);
  CompareRows("updates", expected.updates, sent.updates, &differences);
  CompareBags("retracts", DescribeAll(expected.retracts, DescribeGone),
              DescribeAll(sent.retracts, DescribeGone), &differences);
  CompareBags("late", expected.late, sent.late, &differences);
  CompareBags("late_windows", DescribeAll(expected.late_windows, DescribePlace),
              DescribeAll(sent.late_windows, DescribePlace), &differences);
  CompareBags("unassigned", expected.unassigned, sent.unassigned, &differences);
  auto describe_rejected = [](const Rejected& rejected) {
    return absl::StrCat(rejected.id, " (", rejected.reason, ")");
  };
  CompareBags("rejected", DescribeAll(expected.rejected, describe_rejected),
              DescribeAll(sent.rejected, describe_rejected), &differences);
  CompareBags("duplicates", expected.duplicates, sent.duplicates, &differences);
  CompareWatermark(expected.watermark, sent.watermark, &differences);
  return differences;
}

std::vector<std::string> Comparer::Compare(const EndOutcome& expected,
                                           const EndOutcome& sent) const {
  std::vector<std::string> differences;
  CompareRows("open windows", expected.open, sent.open, &differences);
  CompareWatermark(expected.watermark, sent.watermark, &differences);
  CompareCount("accepted", expected.accepted, sent.accepted, &differences);
  CompareCount("late", expected.late, sent.late, &differences);
  return differences;
}

}  // namespace casement::conformance
