#include "tests/conformance/fates.h"

#include <map>
#include <optional>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tests/support/rpc.h"

namespace casement::conformance {
namespace {

constexpr char kReasonPrefix[] = "REJECT_REASON_";

std::string ReasonWord(v1::RejectReason reason) {
  switch (reason) {
    case v1::REJECT_REASON_WRONG_TYPE:
      return "bad_value";
    // The key is the only field that a case requires.
    case v1::REJECT_REASON_MISSING_FIELD:
      return "missing_key";
    default:
      // missing_time, time_out_of_range and too_far_ahead are the API's words.
      return absl::AsciiStrToLower(
          absl::StripPrefix(v1::RejectReason_Name(reason), kReasonPrefix));
  }
}

// INDEX of "events[INDEX].FIELD".
std::optional<size_t> EventIndex(absl::string_view field) {
  if (!absl::ConsumePrefix(&field, "events[")) return std::nullopt;
  size_t index = 0;
  if (!absl::SimpleAtoi(field.substr(0, field.find(']')), &index)) {
    return std::nullopt;
  }
  return index;
}

void AddLatePlaces(const v1::EventFate::InView& view, const Event& event,
                   const Pipeline& pipeline, StepOutcome* outcome) {
  // The cases count single places under one rule only.
  if (pipeline.late_rule != "window_closed" || pipeline.is_session()) return;
  for (const v1::Window& window : view.late_windows()) {
    LatePlace place;
    place.id = event.id;
    place.start = window.has_start_time() ? FromTimestamp(window.start_time())
                                          : kMinusInfinity;
    place.end = window.has_end_time() ? FromTimestamp(window.end_time())
                                      : kPlusInfinity;
    outcome->late_windows.push_back(place);
  }
}

void ReadFate(const v1::EventFate& fate, const Event& event,
              const Pipeline& pipeline, StepOutcome* outcome,
              std::vector<std::string>* faults) {
  if (fate.fate_case() == v1::EventFate::kRejected) {
    outcome->rejected.push_back({event.id, ReasonWord(fate.rejected())});
    return;
  }
  if (fate.fate_case() == v1::EventFate::kDuplicate) {
    outcome->duplicates.push_back(event.id);
    return;
  }
  // There is one view, so at most one entry.
  for (const v1::EventFate::InView& view : fate.in_views().views()) {
    if (view.state() == v1::EventFate::InView::STATE_LATE) {
      outcome->late.push_back(event.id);
    } else if (view.state() == v1::EventFate::InView::STATE_UNASSIGNED) {
      outcome->unassigned.push_back(event.id);
    } else if (view.state() != v1::EventFate::InView::STATE_COUNTED) {
      faults->push_back(absl::StrCat("event ", event.id, " has the fate ",
                                     view.ShortDebugString()));
    }
    AddLatePlaces(view, event, pipeline, outcome);
  }
}

}  // namespace

void ReadAck(const v1::BatchAck& ack, absl::Span<const Event* const> events,
             const Pipeline& pipeline, StepOutcome* outcome,
             std::vector<std::string>* faults) {
  // A repeat is answered with counts only.
  if (ack.duplicate()) {
    for (const Event* event : events) outcome->duplicates.push_back(event->id);
    return;
  }
  std::set<int> told;
  const size_t rejected_before = outcome->rejected.size();
  const size_t duplicates_before = outcome->duplicates.size();
  const size_t late_before = outcome->late.size();
  for (const v1::EventFate& fate : ack.fates()) {
    if (fate.index() < 0 || fate.index() >= static_cast<int>(events.size()) ||
        !told.insert(fate.index()).second) {
      faults->push_back(
          absl::StrCat("a fate of no event, or the second of one: ",
                       fate.ShortDebugString()));
      continue;
    }
    ReadFate(fate, *events[fate.index()], pipeline, outcome, faults);
  }
  const size_t rejected = outcome->rejected.size() - rejected_before;
  const size_t duplicates = outcome->duplicates.size() - duplicates_before;
  const size_t late = outcome->late.size() - late_before;
  const auto count = [](int32_t value) { return static_cast<size_t>(value); };
  if (count(ack.accepted_events()) != events.size() - rejected - duplicates ||
      count(ack.rejects().rejected_events()) != rejected ||
      count(ack.duplicate_events()) != duplicates ||
      count(ack.late_events()) != late) {
    faults->push_back(
        absl::StrCat("the counts of an answer are not those of its fates: ",
                     ack.ShortDebugString()));
  }
}

bool ReadRefusal(const grpc::Status& status,
                 absl::Span<const Event* const> events,
                 const Pipeline& pipeline, StepOutcome* outcome) {
  const google::rpc::Status details = support::DetailsOf(status);
  if (pipeline.dedup == "batch_seq" &&
      support::ReasonOf(details) == "SEQUENCE_REUSED") {
    for (const Event* event : events) outcome->duplicates.push_back(event->id);
    return true;
  }
  if (pipeline.on_invalid != "reject_batch") return false;
  std::map<size_t, std::string> reasons;
  for (const auto& violation : support::ViolationsOf(details)) {
    std::optional<size_t> index = EventIndex(violation.field());
    v1::RejectReason reason = v1::REJECT_REASON_UNSPECIFIED;
    const std::string name = absl::StrCat(
        kReasonPrefix, absl::StripPrefix(violation.reason(), kReasonPrefix));
    if (!index.has_value() || *index >= events.size() ||
        !v1::RejectReason_Parse(name, &reason)) {
      return false;
    }
    reasons.emplace(*index, ReasonWord(reason));
  }
  if (reasons.empty()) return false;
  for (size_t i = 0; i < events.size(); ++i) {
    auto reason = reasons.find(i);
    outcome->rejected.push_back(
        {events[i]->id, reason == reasons.end() ? "batch" : reason->second});
  }
  return true;
}

}  // namespace casement::conformance
