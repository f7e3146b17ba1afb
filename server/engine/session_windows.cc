#include "server/engine/session_windows.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "server/engine/codec.h"
#include "server/engine/key_codec.h"

namespace casement::engine {

SessionWindows::SessionWindows(const ViewSpec& view, const StreamSpec& stream,
                               TimeUs partial_until)
    : WindowStore(view, stream, partial_until),
      reach_(view.window.gap_us +
             (view.window.gap_rule == GapRule::kInclusive ? 1 : 0)),
      early_(view.trigger.early_every_batch),
      on_time_(view.trigger.on_time && view.allowed_lateness_us > 0),
      late_each_(view.trigger.late_each_change &&
                 view.allowed_lateness_us > 0) {}

SessionWindows::~SessionWindows() {
  for (const Sessions& sessions : by_key_) {
    for (Session* session : sessions) pool_.Delete(session->row);
  }
}

bool SessionWindows::IsPartial(const Session& session) const {
  return session.first <= Later(partial_until_, view_.window.gap_us);
}

SessionWindows::Session* SessionWindows::NewSession(KeyId key, TimeUs time) {
  if (free_.empty()) {
    storage_.emplace_back();
    free_.push_back(&storage_.back());
  }
  Session* session = free_.back();
  free_.pop_back();
  session->key = key;
  session->first = time;
  session->last = time;
  session->row = pool_.New();
  keys_.Ref(key);
  ++live_;
  return session;
}

void SessionWindows::FreeSession(Session* session) {
  pool_.Delete(session->row);
  keys_.Unref(session->key);
  session->row = nullptr;
  session->announced.clear();
  session->changed = false;
  ++session->life;
  free_.push_back(session);
  --live_;
}

void SessionWindows::MarkChanged(Session* session, TimeUs watermark) {
  session->judged_by = watermark;
  if (session->changed) return;
  session->changed = true;
  changed_.emplace_back(session, session->life);
}

void SessionWindows::AddTimers(Session* session, TimeUs before) {
  const TimeUs final_at = FinalAt(session->last);
  close_timers_.push({final_at, session, session->life});
  next_close_ = std::min(next_close_, final_at);
  AddOnTimeTimer(session, before);
}

// Invariant: with the trigger on, a session has an on-time timer exactly if its
// closing time was not reached before this record.
void SessionWindows::AddOnTimeTimer(Session* session, TimeUs before) {
  const TimeUs closing = ClosingTime(session->last);
  if (on_time_ && closing > before) {
    on_time_timers_.push({closing, session, session->life});
  }
}

void SessionWindows::Take(const FoldInput& input, int row, TimeUs watermark,
                          FoldOutcome* outcome) {
  const TimeUs time = input.batch->times[row];
  Refusal refusal;
  refusal.row = row;
  refusal.watermark = watermark;
  refusal.first = {time, time + view_.window.gap_us};
  refusal.period = 1;
  refusal.count = 1;
  const bool own_is_final = FinalAt(time) <= watermark;
  const bool closed_rule = view_.late_rule == LateRule::kWindowClosed;
  if (IsLateBehind(time, watermark) ||
      (closed_rule && own_is_final &&
       view_.session_late_check == SessionLateCheck::kOwn)) {
    outcome->late.push_back(refusal);
    return;
  }
  const KeyId key = ResolveKey(input, row);
  if (key >= by_key_.size()) by_key_.resize(keys_.id_limit());
  Sessions& sessions = by_key_[key];
  // Those that the event is in reach of, which are next to each other.
  const auto reached = std::partition_point(
      sessions.begin(), sessions.end(),
      [&](const Session* session) { return session->last + reach_ <= time; });
  const size_t begin = reached - sessions.begin();
  size_t end = begin;
  while (end < sessions.size() && sessions[end]->first < time + reach_) ++end;
  // An open session that it joins keeps it from being late.
  if (closed_rule && own_is_final && begin == end) {
    outcome->late.push_back(refusal);
    return;
  }
  ++outcome->counted;
  Session* session;
  if (begin == end) {
    session = NewSession(key, time);
    sessions.insert(sessions.begin() + begin, session);
    AddTimers(session, input.before);
  } else {
    session = sessions[begin];
    const TimeUs closing = ClosingTime(session->last);
    if (end - begin > 1) {
      Flush(input);
      MergeRange(&sessions, begin, end);
    }
    session->first = std::min(session->first, time);
    session->last = std::max(session->last, time);
    // A timer that is still to fire finds the later time itself; one that has
    // fired must be set again.
    if (closing <= input.before) AddOnTimeTimer(session, input.before);
  }
  MarkChanged(session, watermark);
  Note(session->row, row);
}

void SessionWindows::MergeRange(Sessions* sessions, size_t begin, size_t end) {
  Session* into = (*sessions)[begin];
  for (size_t i = begin + 1; i < end; ++i) {
    Session* from = (*sessions)[i];
    into->last = std::max(into->last, from->last);
    aggregates_.Merge(into->row, from->row);
    into->announced.insert(into->announced.end(), from->announced.begin(),
                           from->announced.end());
    FreeSession(from);
  }
  sessions->erase(sessions->begin() + begin + 1, sessions->begin() + end);
}

// Takes a freed session out of its key; where the key has several, that is left
// for later and noted, since a key can have very many and all of them close.
void SessionWindows::RemoveFreed(KeyId key, std::vector<KeyId>* several) {
  Sessions& sessions = by_key_[key];
  if (sessions.size() == 1) {
    sessions.clear();
  } else if (several->empty() || several->back() != key) {
    several->push_back(key);
  }
}

ResultHeader SessionWindows::HeaderOf(const Session& session) const {
  ResultHeader header;
  header.window = BoundsOf(session);
  header.closing_time = ClosingTime(session.last);
  header.partial_span = IsPartial(session);
  return header;
}

std::vector<Window> SessionWindows::RetractOthers(Session* session) {
  const Window bounds = BoundsOf(*session);
  std::vector<Window> others;
  for (const Window& window : session->announced) {
    if (window == bounds) continue;
    emitter_.Retract(window, window.end - view_.window.gap_us + reach_,
                     keys_.Bytes(session->key));
    others.push_back(window);
  }
  std::sort(others.begin(), others.end());
  return others;
}

void SessionWindows::CloseUpTo(TimeUs watermark, TimeUs /*seen*/,
                               Version version) {
  std::vector<KeyId> several;
  while (!close_timers_.empty() && close_timers_.top().time <= watermark) {
    const Timer timer = close_timers_.top();
    close_timers_.pop();
    Session* session = timer.session;
    if (timer.life != session->life) continue;
    const TimeUs final_at = FinalAt(session->last);
    if (final_at > watermark) {
      close_timers_.push({final_at, session, session->life});
      continue;
    }
    const std::vector<Window> replaced = RetractOthers(session);
    ResultHeader header = HeaderOf(*session);
    header.finality = Finality::kFinal;
    header.reason = EmitReason::kWatermark;
    emitter_.Emit(header, keys_.Bytes(session->key), session->row, replaced,
                  version);
    const KeyId key = session->key;
    FreeSession(session);
    RemoveFreed(key, &several);
  }
  for (const KeyId key : several) {
    // The closed ones are the earliest.
    Sessions& sessions = by_key_[key];
    sessions.erase(sessions.begin(),
                   std::find_if_not(sessions.begin(), sessions.end(), IsFreed));
  }
  next_close_ = close_timers_.empty() ? kEndOfTime : close_timers_.top().time;
}

void SessionWindows::EmitProvisional(Session* session, Timing timing,
                                     EmitReason reason, Version version) {
  const std::vector<Window> replaced = RetractOthers(session);
  ResultHeader header = HeaderOf(*session);
  header.finality = Finality::kProvisional;
  header.timing = timing;
  header.reason = replaced.empty() ? reason : EmitReason::kSessionMerge;
  header.final_at = FinalAt(session->last);
  emitter_.Emit(header, keys_.Bytes(session->key), session->row, replaced,
                version);
  session->announced.assign(1, header.window);
}

void SessionWindows::AskTrigger(Session* session, const FoldInput& input,
                                bool crossing) {
  const TimeUs closing = ClosingTime(session->last);
  const Window bounds = BoundsOf(*session);
  const bool moved =
      std::any_of(session->announced.begin(), session->announced.end(),
                  [&](const Window& window) { return window != bounds; });
  if (input.after < closing) {
    if (moved || (early_ && session->changed)) {
      EmitProvisional(session, Timing::kEarly, EmitReason::kEarlyTrigger,
                      input.version);
    }
    return;
  }
  const bool changed_late = session->changed && session->judged_by >= closing;
  if (crossing) {
    EmitProvisional(session, Timing::kOnTime, EmitReason::kWatermark,
                    input.version);
  } else if (moved || (late_each_ && changed_late)) {
    EmitProvisional(session,
                    changed_late || closing <= input.before ? Timing::kLate
                                                            : Timing::kOnTime,
                    EmitReason::kLateEvents, input.version);
  }
}

void SessionWindows::AskTriggers(const FoldInput& input) {
  // Sessions whose closing time the watermark has reached in this record.
  std::vector<Session*> crossing;
  while (!on_time_timers_.empty() &&
         on_time_timers_.top().time <= input.after) {
    const Timer timer = on_time_timers_.top();
    on_time_timers_.pop();
    Session* session = timer.session;
    if (timer.life != session->life) continue;
    const TimeUs closing = ClosingTime(session->last);
    if (closing > input.after) {
      on_time_timers_.push({closing, session, session->life});
    } else {
      crossing.push_back(session);
    }
  }
  std::sort(crossing.begin(), crossing.end());
  crossing.erase(std::unique(crossing.begin(), crossing.end()), crossing.end());
  for (Session* session : crossing) AskTrigger(session, input, true);
  for (const auto& [session, life] : changed_) {
    if (session->life != life) continue;
    if (!std::binary_search(crossing.begin(), crossing.end(), session)) {
      AskTrigger(session, input, false);
    }
    session->changed = false;
  }
  changed_.clear();
}

std::vector<Result> SessionWindows::OpenWindows(const OpenWindowPosition& after,
                                                int limit,
                                                Version version) const {
  using Place = std::tuple<TimeUs, TimeUs, absl::string_view>;
  const Place from(after.closing_time, after.start, after.key);
  std::vector<std::pair<Place, const Session*>> found;
  for (const Sessions& sessions : by_key_) {
    for (const Session* session : sessions) {
      const Place place(ClosingTime(session->last), session->first,
                        keys_.Bytes(session->key));
      if (place > from) found.emplace_back(place, session);
    }
  }
  const size_t count =
      std::min(found.size(), static_cast<size_t>(std::max(limit, 0)));
  std::partial_sort(found.begin(), found.begin() + count, found.end());
  std::vector<Result> results;
  for (size_t i = 0; i < count; ++i) {
    const Session& session = *found[i].second;
    results.push_back(OpenResult(BoundsOf(session), ClosingTime(session.last),
                                 keys_.Bytes(session.key), session.row,
                                 IsPartial(session), version));
  }
  return results;
}

size_t SessionWindows::IndexBytes() const {
  return live_ * (sizeof(Session) + 2 * sizeof(Timer)) +
         by_key_.size() * sizeof(Sessions);
}

// entry := key first last count (start end)* state
void SessionWindows::Save(const EntrySink& sink) const {
  std::string entry;
  for (const Sessions& sessions : by_key_) {
    for (const Session* session : sessions) {
      const absl::string_view key = keys_.Bytes(session->key);
      entry.clear();
      Encoder out(&entry);
      out.String(key);
      out.Signed(session->first);
      out.Signed(session->last);
      out.Varint(session->announced.size());
      for (const Window& window : session->announced) {
        out.Signed(window.start);
        out.Signed(window.end);
      }
      aggregates_.EncodeState(session->row, &out);
      sink(PartitionOf(key), entry);
    }
  }
}

bool SessionWindows::Load(absl::string_view entry) {
  Decoder in(entry);
  const absl::string_view key = in.String();
  const TimeUs first = in.Signed();
  const TimeUs last = in.Signed();
  if (!in.ok() || first < kMinEventTime || last > kMaxEventTime ||
      first > last) {
    return false;
  }
  const KeyId id = keys_.FindOrAdd(key);
  if (id >= by_key_.size()) by_key_.resize(keys_.id_limit());
  Session* session = NewSession(id, first);
  session->last = last;
  for (uint64_t n = in.Count(2); n > 0; --n) {
    Window window;
    window.start = in.Signed();
    window.end = in.Signed();
    session->announced.push_back(window);
  }
  by_key_[id].push_back(session);
  return aggregates_.DecodeState(&in, session->row) && in.done();
}

void SessionWindows::Loaded(TimeUs watermark) {
  keys_.Sweep();
  for (const Sessions& sessions : by_key_) {
    for (Session* session : sessions) AddTimers(session, watermark);
  }
}

}  // namespace casement::engine
