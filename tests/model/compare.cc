#include "tests/model/compare.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/engine/error.h"
#include "server/engine/late_entry.h"
#include "tests/model/compare_results.h"

namespace casement::model {
namespace {

using engine::BatchAck;
using engine::FateInView;
using engine::Result;
using engine::Window;

std::string AckText(const BatchAck& ack) {
  std::string text = absl::StrCat(
      "sequence ", ack.sequence, " version ", ack.version, " repeat ",
      ack.repeat, " accepted ", ack.accepted, " late ", ack.late, " duplicate ",
      ack.duplicate, " rejected ", ack.rejected, " W ", ack.progress.watermark,
      " at ", ack.progress.version, " by reason");
  for (const int32_t count : ack.rejected_by_reason) {
    absl::StrAppend(&text, " ", count);
  }
  return text;
}

std::string DifferenceOfAcks(const std::optional<BatchAck>& expected,
                             const std::optional<BatchAck>& got) {
  const std::string want = expected ? AckText(*expected) : "none";
  const std::string have = got ? AckText(*got) : "none";
  if (want == have) return "";
  return absl::StrCat("ack\n    want ", want, "\n    got  ", have);
}

// What a program reads in an error.
std::string DifferenceOfDetail(const ExpectedAdmission& expected,
                               const absl::Status& status) {
  const auto detail = engine::GetErrorDetail(status);
  if (!detail.has_value()) return "an error without detail";
  const std::map<absl::StatusCode, std::string> reasons = {
      {absl::StatusCode::kNotFound, engine::kNoSuchResource},
      {absl::StatusCode::kFailedPrecondition, engine::kProducerFenced},
      {absl::StatusCode::kAborted, engine::kSequenceGap}};
  const auto reason = reasons.find(status.code());
  if (reason != reasons.end() && detail->reason != reason->second) {
    return absl::StrCat("an error with reason ", detail->reason);
  }
  if (expected.bad.empty()) return "";
  const size_t named =
      std::min<size_t>(expected.bad.size(), engine::kMaxFieldViolations);
  bool right = detail->violations.size() == named;
  auto bad = expected.bad.begin();
  for (size_t i = 0; right && i < named; ++i, ++bad) {
    right = absl::StartsWith(detail->violations[i].field,
                             absl::StrCat("events[", bad->first, "]")) &&
            !detail->violations[i].reason.empty();
  }
  return right ? "" : absl::StrCat("other bad events: ", status.ToString());
}

std::string FateText(FateInView::State state,
                     const std::vector<Window>& windows) {
  std::string text = absl::StrCat("state ", static_cast<int>(state));
  for (const Window& window : windows) {
    absl::StrAppend(&text, " ", WindowText(window));
  }
  return text;
}

std::string DifferenceOfFates(const Outcome& expected,
                              const engine::Changes& got) {
  std::map<int32_t, std::map<uint32_t, std::string>> want;
  std::map<int32_t, std::map<uint32_t, std::string>> have;
  const std::string plain = FateText(FateInView::State::kCounted, {});
  for (const auto& [number, view] : expected.views) {
    for (size_t i = 0; i < expected.accepted.size(); ++i) {
      const Verdict& verdict = view.verdicts[i];
      const std::string text = FateText(verdict.state, verdict.late_windows);
      if (text != plain) want[expected.accepted[i].index][number] = text;
    }
  }
  for (const engine::EventFate& fate : got.fates) {
    if (have.count(fate.index) > 0) {
      return absl::StrCat("two fates of event ", fate.index);
    }
    auto& views = have[fate.index];
    for (const FateInView& in_view : fate.in_views) {
      if (in_view.late_window_count !=
          static_cast<int>(in_view.late_windows.size())) {
        return absl::StrCat("late_window_count of event ", fate.index);
      }
      std::vector<Window> windows = in_view.late_windows;
      std::sort(windows.begin(), windows.end());
      const std::string text = FateText(in_view.state, windows);
      if (text != plain) views[in_view.view_number] = text;
    }
    if (views.empty()) {
      return absl::StrCat("a fate of event ", fate.index, " that was counted");
    }
  }
  for (auto* one : {&want, &have}) {
    auto* other = one == &want ? &have : &want;
    for (const auto& [index, views] : *one) {
      for (const auto& [number, text] : views) {
        if ((*other)[index][number] == text) continue;
        return absl::StrCat("fate of event ", index, " in view ", number,
                            "\n    want ", want[index][number], "\n    got  ",
                            have[index][number]);
      }
    }
  }
  return "";
}

std::string LateText(int32_t index, engine::TimeUs time,
                     engine::TimeUs watermark, const Key& key,
                     const std::vector<engine::ScalarValue>& fields,
                     const std::vector<Window>& missed) {
  Key normal;
  for (const engine::ScalarValue& field : fields) {
    normal.push_back(Normalized(field));
  }
  std::string text =
      absl::StrCat("event ", index, " time ", time, " W ", watermark, " key ",
                   ToText(key), " fields ", ToText(normal), " missed");
  for (const Window& window : missed) {
    absl::StrAppend(&text, " ", WindowText(window));
  }
  return text;
}

// A late entry as it was stored.
std::string LateText(const engine::LateEntry& entry) {
  const auto late = engine::DecodeLateEvent(entry.bytes);
  if (!late.ok()) return late.status().ToString();
  if (late->index != entry.index) return "another index";
  const auto key = engine::DecodeKey(late->key);
  if (!key.ok()) return key.status().ToString();
  std::vector<Window> missed;
  for (int64_t i = 0; i < late->missed_count; ++i) {
    missed.push_back({late->first_missed.start + i * late->period,
                      late->first_missed.end + i * late->period});
  }
  return LateText(late->index, late->event_time, late->watermark, *key,
                  late->fields, missed);
}

std::string DifferenceOfLateEvents(const Outcome& expected,
                                   const ViewModel& model,
                                   const ViewOutcome& view,
                                   const engine::ViewChanges* got) {
  std::vector<std::string> want;
  const bool keep = model.definition().spec.late_event_policy ==
                    engine::LateEventPolicy::kKeep;
  for (size_t i = 0; keep && i < view.verdicts.size(); ++i) {
    if (view.verdicts[i].state != FateInView::State::kLate) continue;
    const ModelEvent& event = expected.accepted[i];
    want.push_back(LateText(event.index, event.time, event.judged_by,
                            model.KeyOf(event.values), event.values,
                            view.verdicts[i].late_windows));
  }
  std::vector<std::string> have;
  if (got != nullptr) {
    for (const engine::LateEntry& late : got->late_events) {
      have.push_back(LateText(late));
    }
  }
  if (want == have) return "";
  return absl::StrCat("late entries\n    want ",
                      absl::StrJoin(want, "\n      "), "\n    got  ",
                      absl::StrJoin(have, "\n      "));
}

}  // namespace

std::string Difference(const ExpectedAdmission& expected,
                       const absl::StatusOr<std::optional<BatchAck>>& got) {
  if (!expected.codes.empty()) {
    if (expected.codes.count(got.status().code()) > 0) {
      return DifferenceOfDetail(expected, got.status());
    }
    return absl::StrCat("admission: want an error such as ",
                        absl::StatusCodeToString(*expected.codes.begin()),
                        ", got ", got.status().ToString());
  }
  if (expected.forgotten) {
    if (!got.ok() || got->has_value()) return "";
    return "admission: a very old batch would be folded again";
  }
  if (!got.ok()) {
    return absl::StrCat("admission refused: ", got.status().ToString());
  }
  return DifferenceOfAcks(expected.repeat, *got);
}

std::string Difference(const Outcome& expected, const Model& model,
                       bool want_fates, const engine::Changes& got) {
  if (got.version != expected.progress.version ||
      got.progress != expected.progress) {
    return absl::StrCat("progress: want W ", expected.progress.watermark,
                        " at ", expected.progress.version, ", got W ",
                        got.progress.watermark, " at ", got.progress.version,
                        " of ", got.version);
  }
  std::string text = DifferenceOfAcks(expected.ack, got.ack);
  if (!text.empty()) return text;
  std::map<int32_t, engine::RejectReason> rejects;
  for (const engine::RejectedEvent& reject : got.rejects) {
    if (!rejects.emplace(reject.index, reject.reason).second) return "rejects";
  }
  if (rejects != expected.rejects) return "events refused by the fold";
  std::map<uint32_t, const engine::ViewChanges*> by_number;
  uint32_t before = 0;
  for (const engine::ViewChanges& view : got.views) {
    if (!by_number.empty() && view.view_number <= before) return "view order";
    before = view.view_number;
    by_number[view.view_number] = &view;
    if (expected.views.count(view.view_number) == 0) {
      return absl::StrCat("changes of view ", view.view_number);
    }
    if (view.results.empty() && view.late_events.empty()) {
      return absl::StrCat("empty changes of view ", view.view_number);
    }
  }
  for (const auto& [number, view] : expected.views) {
    const auto found = by_number.find(number);
    const engine::ViewChanges* changes =
        found == by_number.end() ? nullptr : found->second;
    std::vector<Result> results;
    if (changes != nullptr) {
      text = DecodeResults(*changes, got.version, &results);
    }
    if (text.empty()) text = DifferenceOfResults(view.results, results);
    if (text.empty()) {
      text = DifferenceOfLateEvents(expected, *model.views().at(number), view,
                                    changes);
    }
    if (!text.empty()) return absl::StrCat("view ", number, ": ", text);
  }
  if (want_fates) return DifferenceOfFates(expected, got);
  return got.fates.empty() ? "" : "fates that were not asked for";
}

}  // namespace casement::model
