// The open windows of a view: what aligned windows and sessions have in common.
// A store takes the events of a record one after another, each judged by the
// watermark that stood before it, closes windows as the watermark passes, and
// asks the triggers at the record's end.
//
// Updates of accumulators are deferred: an event only notes the row it goes to,
// and Flush applies all notes column by column. So whatever reads or merges a
// row must Flush first.
#ifndef CASEMENT_SERVER_ENGINE_WINDOW_STORE_H_
#define CASEMENT_SERVER_ENGINE_WINDOW_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/engine/aggregate.h"
#include "server/engine/emitter.h"
#include "server/engine/key_resolver.h"
#include "server/engine/key_table.h"
#include "server/engine/row_pool.h"
#include "server/engine/spec.h"
#include "server/engine/stream.h"

namespace casement::engine {

// One record, as a view sees it.
struct FoldInput {
  const EventBatch* batch = nullptr;  // none for a control record
  // The watermark that each row is judged by; none: all by `before`.
  const TimeUs* judged_by = nullptr;
  const uint8_t* skip = nullptr;  // rows the stream refused; none: no row
  TimeUs before = kNoWatermark;   // the stream's watermark before the record
  TimeUs after = kNoWatermark;    // and after it
  Version version = 0;

  TimeUs JudgedBy(int row) const {
    return judged_by == nullptr ? before : judged_by[row];
  }
  bool Skips(int row) const { return skip != nullptr && skip[row] != 0; }
};

// Windows that refused an event: `count` of them, the first being `first`, each
// next one `period` later.
struct Refusal {
  int32_t row = 0;
  TimeUs watermark = kNoWatermark;
  Window first;
  int64_t period = 0;
  int64_t count = 0;
};

// What became of the rows of a record.
struct FoldOutcome {
  int64_t counted = 0;
  std::vector<Refusal> late;
  std::vector<Refusal> partly_late;  // counted, but not in these windows
  std::vector<int32_t> unassigned;   // rows
};

// t + span, where t may be one of the ends of time.
inline TimeUs Later(TimeUs t, int64_t span) {
  return t == kNoWatermark || t == kEndOfTime ? t : t + span;
}

class WindowStore {
 public:
  // Windows that start at or before `partial_until` lack part of their span
  // (sessions: up to a gap later); kNoWatermark: none does.
  WindowStore(const ViewSpec& view, const StreamSpec& stream,
              TimeUs partial_until);
  virtual ~WindowStore() = default;
  WindowStore(const WindowStore&) = delete;
  WindowStore& operator=(const WindowStore&) = delete;

  void Fold(const FoldInput& input, FoldOutcome* outcome);
  // Results of the last Fold.
  Emitter& emitter() { return emitter_; }
  const KeyResolver& resolver() const { return resolver_; }

  // As Stream::OpenWindows.
  virtual std::vector<Result> OpenWindows(const OpenWindowPosition& after,
                                          int limit, Version version) const = 0;

  int64_t live_keys() const { return static_cast<int64_t>(keys_.size()); }
  // What the open windows take, and what their results would take if the
  // watermark made all of them final at once.
  size_t memory_bytes() const {
    return keys_.memory_bytes() + pool_.live_bytes() +
           2 * aggregates_.external_bytes() + IndexBytes() +
           OpenResults() * kResultBytes;
  }

  // Checkpoint: an entry belongs to a key. `watermark` is the stream's.
  using EntrySink =
      std::function<void(uint32_t partition, const std::string& entry)>;
  virtual void Save(const EntrySink& sink) const = 0;
  // False for bytes that Save did not make. After the last one, Loaded.
  virtual bool Load(absl::string_view entry) = 0;
  virtual void Loaded(TimeUs watermark) = 0;

 protected:
  // Judges row `row` by `watermark` and takes it or not.
  virtual void Take(const FoldInput& input, int row, TimeUs watermark,
                    FoldOutcome* outcome) = 0;
  // Emits and drops all windows that `watermark` makes final. `seen` is the
  // watermark that the last event was judged by.
  virtual void CloseUpTo(TimeUs watermark, TimeUs seen, Version version) = 0;
  // Provisional results, at the end of a record.
  virtual void AskTriggers(const FoldInput& input) = 0;
  virtual void StartBatch() = 0;
  virtual size_t IndexBytes() const = 0;
  // A bound of the number of open windows and keys.
  virtual size_t OpenResults() const = 0;

  void Note(Word* row, int32_t event) {
    noted_rows_.push_back(row);
    noted_events_.push_back(event);
  }
  void Flush(const FoldInput& input);

  bool IsLateBehind(TimeUs time, TimeUs watermark) const {
    return view_.late_rule == LateRule::kBehindWatermark &&
           time < Later(watermark, -view_.allowed_lateness_us);
  }
  // The bytes of a key, in batches: through the resolver.
  KeyId ResolveKey(const FoldInput& input, int row);
  Result OpenResult(const Window& window, TimeUs closing_time,
                    absl::string_view key, const Word* row, bool partial,
                    Version version) const;

  const ViewSpec view_;
  const TimeUs partial_until_;
  AggregateSet aggregates_;
  RowPool pool_;
  KeyTable keys_;
  KeyResolver resolver_;
  Emitter emitter_;
  // No window becomes final while the watermark is below this.
  TimeUs next_close_ = kEndOfTime;

 private:
  static constexpr size_t kResultBytes = 160;

  std::vector<Word*> noted_rows_;
  std::vector<int32_t> noted_events_;
  // Keys of the batch that were looked up, by local number.
  std::vector<KeyId> resolved_;
  std::string key_;
};

// The store for the window kind of a spec.
std::unique_ptr<WindowStore> MakeWindowStore(const ViewSpec& view,
                                             const StreamSpec& stream,
                                             TimeUs partial_until);

}  // namespace casement::engine

#endif  // CASEMENT_SERVER_ENGINE_WINDOW_STORE_H_
