#include "tests/model/compare_results.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tests/model/random.h"

namespace casement::model {

using engine::Finality;
using engine::Result;
using engine::Window;

std::string WindowText(const Window& window) {
  return absl::StrCat("[", window.start, ",", window.end, ")");
}

namespace {

std::string FieldsText(const Result& result) {
  std::string text = absl::StrCat(
      "v", result.version, " ", WindowText(result.window), " closing ",
      result.closing_time, " finality ", static_cast<int>(result.finality),
      result.finality == Finality::kRetracted
          ? absl::StrCat(" of ", static_cast<int>(result.retracted_finality))
          : "",
      " reason ", static_cast<int>(result.reason), " timing ",
      static_cast<int>(result.timing), " n ", result.event_count, " first ",
      result.first_event_time, " last ", result.last_event_time, " final_at ",
      result.final_at, result.partial_span ? " partial" : "");
  if (!result.replaced_windows.empty()) {
    absl::StrAppend(&text, " replaces");
    for (const Window& window : result.replaced_windows) {
      absl::StrAppend(&text, " ", WindowText(window));
    }
  }
  return text;
}

// What of a result differs, as the name of its first field.
std::string DifferentField(const ExpectedResult& expected, const Result& got) {
  const Result& want = expected.result;
  if (want.window != got.window) return "window";
  if (want.closing_time != got.closing_time) return "closing_time";
  const auto key = engine::DecodeKey(got.key);
  if (!key.ok() || CompareKeys(expected.key, *key) != 0) return "key";
  if (want.finality != got.finality) return "finality";
  if (want.finality == Finality::kRetracted &&
      want.retracted_finality != got.retracted_finality) {
    return "retracted_finality";
  }
  if (want.version != got.version) return "version";
  if (want.reason != got.reason) return "reason";
  if (want.timing != got.timing) return "timing";
  if (expected.values.size() != got.values.size()) return "number of values";
  for (size_t i = 0; i < got.values.size(); ++i) {
    if (!Matches(expected.values[i], got.values[i])) {
      return absl::StrCat("value ", i);
    }
  }
  if (want.finality == Finality::kRetracted) return "";
  if (want.event_count != got.event_count) return "event_count";
  if (want.first_event_time != got.first_event_time) return "first_event_time";
  if (want.last_event_time != got.last_event_time) return "last_event_time";
  if (want.partial_span != got.partial_span) return "partial_span";
  if (want.final_at != got.final_at) return "final_at";
  std::vector<Window> replaced = got.replaced_windows;
  std::sort(replaced.begin(), replaced.end());
  if (want.replaced_windows != replaced) return "replaced_windows";
  return "";
}

}  // namespace

std::string DifferenceOfResults(const std::vector<ExpectedResult>& expected,
                                const std::vector<Result>& got) {
  const size_t common = std::min(expected.size(), got.size());
  for (size_t i = 0; i < common; ++i) {
    const std::string field = DifferentField(expected[i], got[i]);
    if (field.empty()) continue;
    return absl::StrCat("result ", i, " differs in ", field, "\n    want ",
                        ToText(expected[i]), "\n    got  ", ToText(got[i]));
  }
  if (expected.size() > common) {
    return absl::StrCat("missing ", expected.size() - common,
                        " results, the first\n    want ",
                        ToText(expected[common]));
  }
  if (got.size() > common) {
    return absl::StrCat(got.size() - common,
                        " results too many, the first\n    got  ",
                        ToText(got[common]));
  }
  return "";
}

// The results of a view's changes, with a check that rows, entries and their
// places tell the same.
std::string DecodeResults(const engine::ViewChanges& changes,
                          engine::Version version,
                          std::vector<Result>* results) {
  for (const engine::ResultEntry& entry : changes.results) {
    absl::StatusOr<Result> result =
        engine::DecodeLogEntry(entry.log_entry, version);
    if (!result.ok()) return result.status().ToString();
    if (result->closing_time != entry.closing_time ||
        result->window.start != entry.start || result->key != entry.key) {
      return absl::StrCat("the entry is not in its place: ", ToText(*result));
    }
    const auto finality = engine::PeekFinality(entry.log_entry);
    if (!finality.ok() || finality->finality != result->finality ||
        (result->finality == Finality::kRetracted &&
         finality->retracted_finality != result->retracted_finality)) {
      return absl::StrCat("PeekFinality is wrong for ", ToText(*result));
    }
    const bool stored = result->finality == Finality::kFinal;
    if (stored == entry.row.empty()) {
      return absl::StrCat("rows are for final results: ", ToText(*result));
    }
    if (stored) {
      const absl::StatusOr<Result> row = engine::DecodeRow(entry.row);
      if (!row.ok()) return row.status().ToString();
      if (FieldsText(*row) != FieldsText(*result) || row->key != result->key) {
        return absl::StrCat("row and log entry differ:\n    ", ToText(*row),
                            "\n    ", ToText(*result));
      }
    }
    results->push_back(*std::move(result));
  }
  return "";
}

std::string ToText(const ExpectedResult& result) {
  std::string text =
      absl::StrCat(FieldsText(result.result), " key ", ToText(result.key));
  for (const ExpectedValue& value : result.values) {
    absl::StrAppend(&text, " | ", ToText(value.value));
  }
  return text;
}

std::string ToText(const Result& result) {
  const auto key = engine::DecodeKey(result.key);
  std::string text =
      absl::StrCat(FieldsText(result), " key ",
                   key.ok() ? ToText(*key) : key.status().ToString());
  for (const engine::AggregateValue& value : result.values) {
    absl::StrAppend(&text, " | ", ToText(value));
  }
  return text;
}

std::string DifferenceOfOpenWindows(const ViewModel& view, uint32_t number,
                                    const engine::Stream& stream,
                                    uint64_t seed) {
  Random random(seed);
  std::vector<Result> got;
  engine::OpenWindowPosition after;
  while (true) {
    const int limit = static_cast<int>(random.Between(1, 12));
    const std::vector<Result> page = stream.OpenWindows(number, after, limit);
    if (static_cast<int>(page.size()) > limit) return "a page above its limit";
    if (page.empty()) break;
    got.insert(got.end(), page.begin(), page.end());
    after = {page.back().closing_time, page.back().window.start,
             page.back().key};
  }
  std::vector<ExpectedResult> want = view.open_windows();
  // How it was or will be announced is not the row's to say here.
  for (size_t i = 0; i < want.size() && i < got.size(); ++i) {
    want[i].result.version = got[i].version;
    want[i].result.reason = got[i].reason;
    want[i].result.timing = got[i].timing;
  }
  const std::string text = DifferenceOfResults(want, got);
  return text.empty()
             ? ""
             : absl::StrCat("open windows of view ", number, ": ", text);
}

}  // namespace casement::model
