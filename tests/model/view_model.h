// One view of the model. It keeps no aggregates and no windows: after each
// record it goes through all events that its stream has accepted since it was
// made, with the watermark that each was judged by, and works out again which
// windows hold which events.
#ifndef CASEMENT_TESTS_MODEL_VIEW_MODEL_H_
#define CASEMENT_TESTS_MODEL_VIEW_MODEL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/engine/result.h"
#include "server/engine/spec.h"
#include "server/engine/stream.h"
#include "server/engine/types.h"
#include "tests/model/values.h"

namespace casement::model {

// An event that the stream has accepted.
struct ModelEvent {
  engine::Version version = 0;
  int32_t index = 0;  // in its batch as sent
  engine::TimeUs time = 0;
  engine::TimeUs judged_by = engine::kNoWatermark;
  std::vector<engine::ScalarValue> values;  // one a field of the stream
};

// What a view makes of an event.
struct Verdict {
  engine::FateInView::State state = engine::FateInView::State::kCounted;
  std::vector<engine::Window> late_windows;  // ascending
};

// A result as it must be. `result.key` and `result.values` are left empty.
struct ExpectedResult {
  Key key;
  engine::Result result;
  std::vector<ExpectedValue> values;
};

// What a record brings out in a view.
struct ViewOutcome {
  std::vector<ExpectedResult> results;  // in order
  std::vector<Verdict> verdicts;        // of the record's events, in order
};

// The stream's watermarks, by version: [0] is before the first record.
using WatermarkHistory = std::vector<engine::TimeUs>;

class ViewModel {
 public:
  // `greatest_time` is of all events that the stream had accepted before;
  // `events_before` is how many.
  ViewModel(engine::ViewDefinition definition, const engine::StreamSpec& stream,
            std::optional<engine::TimeUs> greatest_time, size_t events_before);

  ViewModel(const ViewModel&) = delete;
  ViewModel& operator=(const ViewModel&) = delete;

  const engine::ViewDefinition& definition() const { return definition_; }

  // The key of an event with these values.
  Key KeyOf(const std::vector<engine::ScalarValue>& values) const;

  // To be called after each record. `history` ends with the record's version.
  ViewOutcome Step(const std::vector<ModelEvent>& events,
                   const WatermarkHistory& history);

  // As of the last Step: every open window, in order, as PROVISIONAL.
  const std::vector<ExpectedResult>& open_windows() const { return open_; }
  const engine::ViewAccounts& accounts() const { return accounts_; }

 private:
  // A window of a key that holds events and isn't final before the record.
  struct Held {
    engine::Window window;
    __int128 closing_time = 0;
    std::vector<size_t> events;  // indices, ascending
    bool is_final = false;       // becomes so by the record
  };
  // All there is to know about a view after a record.
  struct State {
    std::map<Key, std::vector<Held>, KeyLess> held;
    std::vector<Verdict> verdicts;  // of all events since the view was made
  };
  // A provisional row that was sent, and neither replaced nor taken back.
  struct Announced {
    engine::Window window;
    size_t event = 0;  // one of its events
  };

  State Recompute(const std::vector<ModelEvent>& events,
                  const WatermarkHistory& history) const;
  void RecomputeAligned(const std::vector<ModelEvent>& events,
                        const WatermarkHistory& history, State* state) const;
  void RecomputeSessions(const std::vector<ModelEvent>& events,
                         const WatermarkHistory& history, State* state) const;
  // One key's sessions.
  std::vector<Held> SessionsOfKey(const std::vector<ModelEvent>& events,
                                  const std::vector<size_t>& of_key,
                                  const WatermarkHistory& history,
                                  std::vector<Verdict>* verdicts) const;
  // Cuts events into sessions, each in order of time.
  std::vector<std::vector<size_t>> Sessions(
      const std::vector<ModelEvent>& events, std::vector<size_t> members) const;

  std::vector<engine::Window> WindowsOf(engine::TimeUs time) const;
  engine::Window SessionWindow(const std::vector<ModelEvent>& events,
                               const std::vector<size_t>& members) const;
  __int128 ClosingTime(const engine::Window& window) const;
  bool IsLateByTime(const ModelEvent& event) const;
  bool IsClosed(const engine::Window& window, engine::TimeUs watermark) const;
  bool IsPartial(const engine::Window& window) const;

  ExpectedResult Row(const std::vector<ModelEvent>& events, const Key& key,
                     const Held& held) const;
  // Decides what is sent of a window, if anything.
  std::optional<ExpectedResult> Emit(
      const std::vector<ModelEvent>& events, const WatermarkHistory& history,
      const Key& key, const Held& held,
      const std::vector<engine::Window>& replaced) const;
  // Takes back the rows that `held` takes the place of.
  std::vector<engine::Window> Replace(const Key& key, const Held& held,
                                      engine::Version version,
                                      std::vector<ExpectedResult>* results);
  // Notes that a session's row was sent.
  void Announce(const Key& key, const Held& held);
  void Account(const State& state, const std::vector<ExpectedResult>& results);

  engine::ViewDefinition definition_;
  const engine::ViewSpec& spec_;
  std::vector<int> group_fields_;
  std::vector<int> aggregate_fields_;  // -1: of events
  std::vector<engine::FieldType> aggregate_types_;
  std::optional<engine::TimeUs> greatest_time_;
  size_t first_event_ = 0;

  std::map<Key, std::vector<Announced>, KeyLess> announced_;
  std::vector<ExpectedResult> open_;
  engine::ViewAccounts accounts_;
};

}  // namespace casement::model

#endif  // CASEMENT_TESTS_MODEL_VIEW_MODEL_H_
