#include "tests/model/view_model.h"

#include <algorithm>
#include <utility>

#include "tests/model/producers.h"

namespace casement::model {

using engine::EmitReason;
using engine::FateInView;
using engine::Finality;
using engine::TimeUs;
using engine::Timing;
using engine::Version;
using engine::Window;
using engine::WindowKind;

namespace {

bool OrderedBefore(const ExpectedResult& a, const ExpectedResult& b) {
  if (a.result.closing_time != b.result.closing_time) {
    return a.result.closing_time < b.result.closing_time;
  }
  if (a.result.window.start != b.result.window.start) {
    return a.result.window.start < b.result.window.start;
  }
  return CompareKeys(a.key, b.key) < 0;
}

}  // namespace

ViewModel::ViewModel(engine::ViewDefinition definition,
                     const engine::StreamSpec& stream,
                     std::optional<TimeUs> greatest_time, size_t events_before)
    : definition_(std::move(definition)),
      spec_(definition_.spec),
      greatest_time_(greatest_time),
      first_event_(events_before) {
  for (const std::string& field : spec_.group_by) {
    group_fields_.push_back(stream.FindField(field));
  }
  for (const engine::AggregateSpec& aggregate : spec_.aggregates) {
    const int field =
        aggregate.field.empty() ? -1 : stream.FindField(aggregate.field);
    aggregate_fields_.push_back(field);
    aggregate_types_.push_back(field < 0 ? engine::FieldType::kInt64
                                         : stream.fields[field].type);
  }
}

ViewOutcome ViewModel::Step(const std::vector<ModelEvent>& events,
                            const WatermarkHistory& history) {
  const auto version = static_cast<Version>(history.size()) - 1;
  const State state = Recompute(events, history);
  ViewOutcome outcome;
  for (size_t i = first_event_; i < events.size(); ++i) {
    if (events[i].version == version) {
      outcome.verdicts.push_back(state.verdicts[i - first_event_]);
    }
  }
  open_.clear();
  for (const auto& [key, windows] : state.held) {
    for (const Held& held : windows) {
      const std::vector<Window> replaced =
          Replace(key, held, version, &outcome.results);
      std::optional<ExpectedResult> result =
          Emit(events, history, key, held, replaced);
      if (result.has_value()) {
        if (!held.is_final) Announce(key, held);
        outcome.results.push_back(*std::move(result));
      }
      if (!held.is_final) open_.push_back(Row(events, key, held));
    }
  }
  std::sort(outcome.results.begin(), outcome.results.end(), OrderedBefore);
  std::sort(open_.begin(), open_.end(), OrderedBefore);
  Account(state, outcome.results);
  return outcome;
}

ExpectedResult ViewModel::Row(const std::vector<ModelEvent>& events,
                              const Key& key, const Held& held) const {
  ExpectedResult row{.key = key, .result = {}, .values = {}};
  engine::Result& result = row.result;
  result.window = held.window;
  result.closing_time = static_cast<TimeUs>(held.closing_time);
  result.finality = Finality::kProvisional;
  result.event_count = static_cast<int64_t>(held.events.size());
  result.first_event_time = events[held.events[0]].time;
  result.last_event_time = result.first_event_time;
  for (const size_t i : held.events) {
    result.first_event_time = std::min(result.first_event_time, events[i].time);
    result.last_event_time = std::max(result.last_event_time, events[i].time);
  }
  result.partial_span = IsPartial(held.window);
  result.final_at =
      static_cast<TimeUs>(held.closing_time + spec_.allowed_lateness_us);
  for (size_t a = 0; a < spec_.aggregates.size(); ++a) {
    std::vector<engine::ScalarValue> values;
    for (const size_t i : held.events) {
      values.push_back(aggregate_fields_[a] < 0
                           ? engine::ScalarValue()
                           : events[i].values[aggregate_fields_[a]]);
    }
    row.values.push_back(
        Aggregate(spec_.aggregates[a], aggregate_types_[a], values));
  }
  return row;
}

std::optional<ExpectedResult> ViewModel::Emit(
    const std::vector<ModelEvent>& events, const WatermarkHistory& history,
    const Key& key, const Held& held,
    const std::vector<Window>& replaced) const {
  const auto version = static_cast<Version>(history.size()) - 1;
  const TimeUs before = history[history.size() - 2];
  const TimeUs after = history.back();
  bool changed = false;
  bool changed_late = false;  // when the watermark had come to the end
  for (const size_t i : held.events) {
    if (events[i].version != version) continue;
    changed = true;
    changed_late =
        changed_late || Reached(events[i].judged_by, held.closing_time);
  }
  const engine::TriggerSpec& trigger = spec_.trigger;
  Timing timing = Timing::kNone;
  EmitReason reason = EmitReason::kWatermark;
  bool asked = true;
  if (held.is_final) {
    // Always sent, once.
  } else if (!Reached(after, held.closing_time)) {
    timing = Timing::kEarly;
    reason = EmitReason::kEarlyTrigger;
    asked = changed && trigger.early_every_batch;
  } else if (!Reached(before, held.closing_time) && trigger.on_time) {
    timing = Timing::kOnTime;
  } else {
    timing = changed_late ? Timing::kLate : Timing::kOnTime;
    reason = EmitReason::kLateEvents;
    asked = changed_late && trigger.late_each_change;
  }
  if (!asked && replaced.empty()) return std::nullopt;
  if (!held.is_final && !replaced.empty()) reason = EmitReason::kSessionMerge;

  ExpectedResult row = Row(events, key, held);
  row.result.version = version;
  row.result.timing = timing;
  row.result.reason = reason;
  row.result.replaced_windows = replaced;
  if (held.is_final) {
    row.result.finality = Finality::kFinal;
    row.result.final_at = 0;
  }
  return row;
}

void ViewModel::Announce(const Key& key, const Held& held) {
  if (spec_.window.kind != WindowKind::kSession) return;
  std::vector<Announced>& rows = announced_[key];
  const bool known = std::any_of(
      rows.begin(), rows.end(),
      [&held](const Announced& row) { return row.window == held.window; });
  if (!known) rows.push_back({held.window, held.events[0]});
}

std::vector<Window> ViewModel::Replace(const Key& key, const Held& held,
                                       Version version,
                                       std::vector<ExpectedResult>* results) {
  std::vector<Window> replaced;
  const auto found = announced_.find(key);
  if (found == announced_.end()) return replaced;
  std::vector<Announced> rest;
  for (const Announced& row : found->second) {
    const bool mine =
        std::binary_search(held.events.begin(), held.events.end(), row.event);
    if (!mine) {
      rest.push_back(row);
      continue;
    }
    if (row.window == held.window) {
      if (!held.is_final) rest.push_back(row);
      continue;
    }
    replaced.push_back(row.window);
    ExpectedResult gone{.key = key, .result = {}, .values = {}};
    gone.result.window = row.window;
    gone.result.closing_time = static_cast<TimeUs>(ClosingTime(row.window));
    gone.result.finality = Finality::kRetracted;
    gone.result.retracted_finality = Finality::kProvisional;
    gone.result.reason = EmitReason::kSessionMerge;
    gone.result.version = version;
    results->push_back(std::move(gone));
  }
  found->second = std::move(rest);
  std::sort(replaced.begin(), replaced.end());
  return replaced;
}

void ViewModel::Account(const State& state,
                        const std::vector<ExpectedResult>& results) {
  accounts_.accepted = static_cast<int64_t>(state.verdicts.size());
  accounts_.counted = 0;
  accounts_.late = 0;
  accounts_.unassigned = 0;
  accounts_.late_places = 0;
  for (const Verdict& verdict : state.verdicts) {
    switch (verdict.state) {
      case FateInView::State::kCounted:
        ++accounts_.counted;
        accounts_.late_places +=
            static_cast<int64_t>(verdict.late_windows.size());
        break;
      case FateInView::State::kLate:
        ++accounts_.late;
        break;
      case FateInView::State::kUnassigned:
        ++accounts_.unassigned;
        break;
      case FateInView::State::kFiltered:
        ++accounts_.filtered;
        break;
    }
  }
  for (const ExpectedResult& result : results) {
    switch (result.result.finality) {
      case Finality::kProvisional:
        ++accounts_.provisional_results;
        break;
      case Finality::kFinal:
        ++accounts_.final_results;
        break;
      case Finality::kCorrected:
        ++accounts_.corrected_results;
        break;
      case Finality::kRetracted:
        ++accounts_.retracted_results;
        break;
    }
  }
}

}  // namespace casement::model
