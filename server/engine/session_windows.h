// Session windows, per key: events closer than the gap share a session, and one
// that lies between two merges them.
//
//   gap 5, inclusive:   events at 0 and 8     sessions [0 .. 5)  [8 .. 13)
//                       then one at 4         one session [0 .. 13)
//
// Invariant: the sessions of a key are apart by more than the gap, in order of
// time, and none of them is final: what is final is gone from here, so nothing
// can merge into it.
#ifndef CASEMENT_SERVER_ENGINE_SESSION_WINDOWS_H_
#define CASEMENT_SERVER_ENGINE_SESSION_WINDOWS_H_

#include <deque>
#include <queue>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "server/engine/window_store.h"

namespace casement::engine {

class SessionWindows : public WindowStore {
 public:
  SessionWindows(const ViewSpec& view, const StreamSpec& stream,
                 TimeUs partial_until);
  ~SessionWindows() override;

  std::vector<Result> OpenWindows(const OpenWindowPosition& after, int limit,
                                  Version version) const override;
  void Save(const EntrySink& sink) const override;
  bool Load(absl::string_view entry) override;
  void Loaded(TimeUs watermark) override;

 protected:
  void Take(const FoldInput& input, int row, TimeUs watermark,
            FoldOutcome* outcome) override;
  void CloseUpTo(TimeUs watermark, TimeUs seen, Version version) override;
  void AskTriggers(const FoldInput& input) override;
  void StartBatch() override {}
  size_t IndexBytes() const override;
  size_t OpenResults() const override { return live_; }

 private:
  struct Session {
    KeyId key = 0;
    TimeUs first = 0;  // of its events
    TimeUs last = 0;
    Word* row = nullptr;
    // Bounds under which it, or a session merged into it, was announced.
    std::vector<Window> announced;
    // The watermark that the last change in this record was judged by.
    TimeUs judged_by = kNoWatermark;
    bool changed = false;  // in this record; it is then in changed_
    uint32_t life = 0;     // goes up when the object is given back
  };
  using Sessions = absl::InlinedVector<Session*, 1>;  // of a key, by time

  // When something about a session may be due. Lazy: a session that has grown
  // since is looked at, and put back under its later time.
  struct Timer {
    TimeUs time;
    Session* session;
    uint32_t life;
    bool operator>(const Timer& other) const { return time > other.time; }
  };
  using Timers =
      std::priority_queue<Timer, std::vector<Timer>, std::greater<Timer>>;

  TimeUs ClosingTime(TimeUs last) const { return last + reach_; }
  TimeUs FinalAt(TimeUs last) const {
    return ClosingTime(last) + view_.allowed_lateness_us;
  }
  Window BoundsOf(const Session& session) const {
    return {session.first, session.last + view_.window.gap_us};
  }
  bool IsPartial(const Session& session) const;

  Session* NewSession(KeyId key, TimeUs time);
  void FreeSession(Session* session);
  void MarkChanged(Session* session, TimeUs watermark);
  // `before`: the watermark before the record.
  void AddTimers(Session* session, TimeUs before);
  void AddOnTimeTimer(Session* session, TimeUs before);
  // Merges sessions [begin, end) of a key into the first of them.
  void MergeRange(Sessions* sessions, size_t begin, size_t end);
  static bool IsFreed(const Session* session) {
    return session->row == nullptr;
  }
  void RemoveFreed(KeyId key, std::vector<KeyId>* several);
  ResultHeader HeaderOf(const Session& session) const;
  // Takes back the rows under other bounds than the present ones; those are
  // returned.
  std::vector<Window> RetractOthers(Session* session);
  void EmitProvisional(Session* session, Timing timing, EmitReason reason,
                       Version version);
  void AskTrigger(Session* session, const FoldInput& input, bool crossing);

  const int64_t reach_;  // events less than this apart share a session
  const bool early_;
  const bool on_time_;
  const bool late_each_;
  std::vector<Sessions> by_key_;  // by KeyId
  Timers close_timers_;
  Timers on_time_timers_;        // used only if on_time_
  std::deque<Session> storage_;  // addresses stay
  std::vector<Session*> free_;
  std::vector<std::pair<Session*, uint32_t>> changed_;
  size_t live_ = 0;
};

}  // namespace casement::engine

#endif  // CASEMENT_SERVER_ENGINE_SESSION_WINDOWS_H_
