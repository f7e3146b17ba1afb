// Which windows hold which events: worked out from all events, each time.
#include <algorithm>
#include <utility>

#include "tests/model/producers.h"
#include "tests/model/view_model.h"

namespace casement::model {

using engine::FateInView;
using engine::TimeUs;
using engine::Version;
using engine::Window;
using engine::WindowKind;

namespace {

__int128 FloorDivide(__int128 a, __int128 b) {
  const __int128 quotient = a / b;
  return quotient * b > a ? quotient - 1 : quotient;
}

}  // namespace

ViewModel::State ViewModel::Recompute(const std::vector<ModelEvent>& events,
                                      const WatermarkHistory& history) const {
  State state;
  state.verdicts.resize(events.size() - first_event_);
  if (spec_.window.kind == WindowKind::kSession) {
    RecomputeSessions(events, history, &state);
  } else {
    RecomputeAligned(events, history, &state);
  }
  return state;
}

void ViewModel::RecomputeAligned(const std::vector<ModelEvent>& events,
                                 const WatermarkHistory& history,
                                 State* state) const {
  const TimeUs before = history[history.size() - 2];
  const TimeUs after = history.back();
  std::map<Key, std::map<Window, std::vector<size_t>>, KeyLess> members;
  for (size_t i = first_event_; i < events.size(); ++i) {
    const ModelEvent& event = events[i];
    Verdict& verdict = state->verdicts[i - first_event_];
    const std::vector<Window> windows = WindowsOf(event.time);
    const bool late_by_time = IsLateByTime(event);
    bool counted = false;
    for (const Window& window : windows) {
      if (late_by_time || IsClosed(window, event.judged_by)) {
        verdict.late_windows.push_back(window);
        continue;
      }
      counted = true;
      // What was final before the record is of no more concern.
      if (Reached(before, ClosingTime(window) + spec_.allowed_lateness_us)) {
        continue;
      }
      members[KeyOf(event.values)][window].push_back(i);
    }
    if (windows.empty()) {
      verdict.state = FateInView::State::kUnassigned;
    } else if (!counted) {
      verdict.state = FateInView::State::kLate;
    }
  }
  for (const auto& [key, by_window] : members) {
    for (const auto& [window, of_window] : by_window) {
      const __int128 closing = ClosingTime(window);
      state->held[key].push_back(
          {window, closing, of_window,
           Reached(after, closing + spec_.allowed_lateness_us)});
    }
  }
}

void ViewModel::RecomputeSessions(const std::vector<ModelEvent>& events,
                                  const WatermarkHistory& history,
                                  State* state) const {
  std::map<Key, std::vector<size_t>, KeyLess> by_key;
  for (size_t i = first_event_; i < events.size(); ++i) {
    by_key[KeyOf(events[i].values)].push_back(i);
  }
  for (const auto& [key, of_key] : by_key) {
    std::vector<Held> sessions =
        SessionsOfKey(events, of_key, history, &state->verdicts);
    if (!sessions.empty()) state->held[key] = std::move(sessions);
  }
}

std::vector<ViewModel::Held> ViewModel::SessionsOfKey(
    const std::vector<ModelEvent>& events, const std::vector<size_t>& of_key,
    const WatermarkHistory& history, std::vector<Verdict>* verdicts) const {
  const auto version = static_cast<Version>(history.size()) - 1;
  std::vector<Held> held;
  std::vector<size_t> active;  // counted, and in no final session
  // Takes out of `active` the sessions that `watermark` makes final.
  auto close = [&](TimeUs watermark, bool by_this_record) {
    std::vector<size_t> rest;
    for (std::vector<size_t>& members : Sessions(events, active)) {
      const Window window = SessionWindow(events, members);
      if (!IsClosed(window, watermark)) {
        rest.insert(rest.end(), members.begin(), members.end());
      } else if (by_this_record) {
        std::sort(members.begin(), members.end());
        held.push_back({window, ClosingTime(window), members, true});
      }
    }
    active = std::move(rest);
  };
  for (size_t i = 0; i <= of_key.size(); ++i) {
    const bool at_end = i == of_key.size();
    // The sessions that were closed before the record at hand began.
    const Version next = at_end ? version : events[of_key[i]].version;
    close(history[next - 1], /*by_this_record=*/false);
    if (at_end) break;
    const ModelEvent& event = events[of_key[i]];
    close(event.judged_by, /*by_this_record=*/next == version);

    Verdict& verdict = (*verdicts)[of_key[i] - first_event_];
    const Window own = SessionWindow(events, {of_key[i]});
    Window judged = own;
    if (spec_.session_late_check == engine::SessionLateCheck::kMerged) {
      std::vector<size_t> with_event = active;
      with_event.push_back(of_key[i]);
      for (const std::vector<size_t>& members : Sessions(events, with_event)) {
        if (std::count(members.begin(), members.end(), of_key[i]) > 0) {
          judged = SessionWindow(events, members);
        }
      }
    }
    if (IsLateByTime(event) || IsClosed(judged, event.judged_by)) {
      verdict.state = FateInView::State::kLate;
      verdict.late_windows = {own};
    } else {
      active.push_back(of_key[i]);
    }
  }
  close(history.back(), /*by_this_record=*/true);
  for (std::vector<size_t>& members : Sessions(events, active)) {
    const Window window = SessionWindow(events, members);
    std::sort(members.begin(), members.end());
    held.push_back({window, ClosingTime(window), members, false});
  }
  return held;
}

std::vector<std::vector<size_t>> ViewModel::Sessions(
    const std::vector<ModelEvent>& events, std::vector<size_t> members) const {
  std::sort(members.begin(), members.end(), [&events](size_t a, size_t b) {
    return events[a].time < events[b].time;
  });
  std::vector<std::vector<size_t>> sessions;
  for (size_t i = 0; i < members.size(); ++i) {
    bool joins = false;
    if (i > 0) {
      const __int128 distance = static_cast<__int128>(events[members[i]].time) -
                                events[members[i - 1]].time;
      joins = spec_.window.gap_rule == engine::GapRule::kInclusive
                  ? distance <= spec_.window.gap_us
                  : distance < spec_.window.gap_us;
    }
    if (!joins) sessions.emplace_back();
    sessions.back().push_back(members[i]);
  }
  return sessions;
}

std::vector<Window> ViewModel::WindowsOf(TimeUs time) const {
  const __int128 size = spec_.window.size_us;
  const __int128 period = spec_.window.kind == WindowKind::kTumbling
                              ? spec_.window.size_us
                              : spec_.window.period_us;
  const __int128 offset = spec_.window.offset_us;
  std::vector<Window> windows;
  for (__int128 start = FloorDivide(time - offset, period) * period + offset;
       start + size > time; start -= period) {
    windows.insert(windows.begin(), {static_cast<TimeUs>(start),
                                     static_cast<TimeUs>(start + size)});
  }
  return windows;
}

Window ViewModel::SessionWindow(const std::vector<ModelEvent>& events,
                                const std::vector<size_t>& members) const {
  TimeUs first = events[members[0]].time;
  TimeUs last = first;
  for (const size_t i : members) {
    first = std::min(first, events[i].time);
    last = std::max(last, events[i].time);
  }
  return {first, last + spec_.window.gap_us};
}

__int128 ViewModel::ClosingTime(const Window& window) const {
  const bool inclusive = spec_.window.kind == WindowKind::kSession &&
                         spec_.window.gap_rule == engine::GapRule::kInclusive;
  return static_cast<__int128>(window.end) + (inclusive ? 1 : 0);
}

bool ViewModel::IsLateByTime(const ModelEvent& event) const {
  if (spec_.late_rule != engine::LateRule::kBehindWatermark) return false;
  if (event.judged_by == engine::kNoWatermark) return false;
  if (event.judged_by == engine::kEndOfTime) return true;
  return event.time <
         static_cast<__int128>(event.judged_by) - spec_.allowed_lateness_us;
}

bool ViewModel::IsClosed(const Window& window, TimeUs watermark) const {
  return Reached(watermark, ClosingTime(window) + spec_.allowed_lateness_us);
}

bool ViewModel::IsPartial(const Window& window) const {
  if (!greatest_time_.has_value()) return false;
  const __int128 reach =
      spec_.window.kind == WindowKind::kSession ? spec_.window.gap_us : 0;
  return window.start <= *greatest_time_ + reach;
}

Key ViewModel::KeyOf(const std::vector<engine::ScalarValue>& values) const {
  Key key;
  for (const int field : group_fields_) {
    key.push_back(Normalized(values[field]));
  }
  return key;
}
}  // namespace casement::model
