// A stream and its views as a deterministic state machine: records in, changes
// out. Fold reads no clock, no random number and no unordered iteration that
// could show, so equal records give equal bytes. Not thread-safe: one thread
// owns a stream.
//
//   Stream stream(spec);
//   auto admission = stream.Admit(batch);      // const; may refuse
//   Changes changes;
//   stream.Fold(Record(batch), &changes);      // version() goes up by one
//
// A record that Admit let pass folds without error, now and at every replay.
#ifndef CASEMENT_SERVER_ENGINE_STREAM_H_
#define CASEMENT_SERVER_ENGINE_STREAM_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/engine/record.h"
#include "server/engine/result.h"
#include "server/engine/spec.h"
#include "server/engine/types.h"

namespace casement::engine {

class View;
class ProducerTable;
struct ProducerState;

// The answer to a batch, remembered for repeats.
struct BatchAck {
  int64_t sequence = 0;
  Version version = 0;
  bool repeat = false;
  int32_t accepted = 0;
  int32_t late = 0;       // for at least one view
  int32_t duplicate = 0;  // events
  int32_t rejected = 0;
  std::array<int32_t, kRejectReasons> rejected_by_reason{};
  Progress progress;
};

// What became of an event in a view.
struct FateInView {
  enum class State : uint8_t { kCounted = 1, kLate, kUnassigned, kFiltered };
  uint32_t view_number = 0;
  State state = State::kCounted;
  // The windows that refused it; of a batch at most kMaxFateWindows are listed.
  int32_t late_window_count = 0;
  std::vector<Window> late_windows;
};
inline constexpr int kMaxFateWindows = 10000;
// Events of a batch times views of the stream, at most, to ask for fates.
inline constexpr int64_t kMaxFates = 10000;
// Events that every view counted in all their windows are left out.
struct EventFate {
  int32_t index = 0;  // in the batch as sent
  std::vector<FateInView> in_views;
};

// One result in the bytes of ViewChanges.
struct ResultEntry {
  TimeUs closing_time = 0;
  TimeUs start = 0;
  absl::string_view key;  // encoded
  absl::string_view log_entry;
  absl::string_view row;  // empty: it is not stored as a row
};

// An event that was late for a view with LATE_EVENT_POLICY_KEEP.
struct LateEntry {
  int32_t index = 0;  // in the batch as sent
  std::string bytes;  // encoded; format in late_entry.cc
};

// What a record brought out in one view. Views are pinned: the string_views of
// `results` point into `arena` and `keys`, so a ViewChanges moves but is not
// copied.
struct ViewChanges {
  uint32_t view_number = 0;
  std::vector<ResultEntry> results;  // by closing time, start, key
  std::vector<LateEntry> late_events;
  std::unique_ptr<std::string> arena;

  ViewChanges() = default;
  ViewChanges(ViewChanges&&) = default;
  ViewChanges& operator=(ViewChanges&&) = default;
};

// All that a record brought out.
struct Changes {
  Version version = 0;
  Progress progress;
  std::vector<ViewChanges> views;  // by view number; only those with something
  std::optional<BatchAck> ack;     // of a batch
  std::vector<RejectedEvent>
      rejects;                   // by the fold (too far ahead); of a batch
  std::vector<EventFate> fates;  // if asked for; without rejects
  std::optional<uint32_t> created_view;
  std::optional<uint32_t> deleted_view;
  size_t memory_bytes() const;
};

struct StreamAccounts {
  int64_t accepted = 0;
  int64_t rejected = 0;
  int64_t duplicate = 0;
  int64_t late = 0;  // for at least one view
  int64_t received() const { return accepted + rejected + duplicate; }
};

struct ViewAccounts {
  int64_t accepted = 0;  // by the stream, since the view's first version
  int64_t counted = 0;
  int64_t late = 0;
  int64_t unassigned = 0;
  int64_t filtered = 0;
  int64_t late_places = 0;
  int64_t provisional_results = 0;
  int64_t final_results = 0;
  int64_t corrected_results = 0;
  int64_t retracted_results = 0;
};

// What a producer looks like from outside.
struct ProducerInfo {
  std::string id;
  int64_t epoch = 0;
  int64_t last_sequence = 0;
  SourceState source_state = SourceState::kActive;
  TimeUs watermark = kNoWatermark;
  TimeUs max_event_time = kNoWatermark;
  int64_t accepted = 0;
  int64_t rejected = 0;
  int64_t late = 0;
  std::string source_position;
};

// A place in the order of open windows.
struct OpenWindowPosition {
  TimeUs closing_time = kNoWatermark;
  TimeUs start = kNoWatermark;
  std::string key;
};

class Stream {
 public:
  explicit Stream(StreamSpec spec);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  const StreamSpec& spec() const { return spec_; }
  // Of the last folded record.
  Version version() const { return progress_.version; }
  const Progress& progress() const { return progress_; }
  const StreamAccounts& accounts() const { return accounts_; }
  bool ended() const { return progress_.ended(); }

  // -- Admission: whether a record may become the next one. Changes nothing.

  // The remembered answer for a repeat; nothing for a batch to fold. Errors:
  // NOT_FOUND (no such producer), FAILED_PRECONDITION (fenced), ABORTED (gap),
  // INVALID_ARGUMENT (sequence reused, assertion too far ahead, a batch with
  // nothing in it; with REJECT_BATCH also bad events).
  absl::StatusOr<std::optional<BatchAck>> Admit(const BatchRecord& batch) const;
  // Whether the fates of a batch may be asked for: INVALID_ARGUMENT (field
  // "report") above kMaxFates.
  absl::Status AdmitFates(const BatchRecord& batch) const;
  // Errors: RESOURCE_EXHAUSTED (too many producers), FAILED_PRECONDITION (the
  // epoch is not the expected one), INVALID_ARGUMENT (id).
  absl::Status Admit(const OpenProducerRecord& open,
                     std::optional<int64_t> expected_epoch) const;
  // Errors: INVALID_ARGUMENT, ALREADY_EXISTS (an equal definition is told by
  // FindView), RESOURCE_EXHAUSTED (too many views).
  absl::Status Admit(const CreateViewRecord& create) const;

  // -- Fold

  // Takes the next record, whose version is version() + 1. `changes` is
  // overwritten. Fates are worked out only if asked for.
  void Fold(Record record, bool want_fates, Changes* changes);

  // -- Reads, all as of version()

  std::optional<ProducerInfo> FindProducer(absl::string_view id) const;

  struct ViewInfo {
    uint32_t number = 0;  // never used again in this stream
    const ViewDefinition* definition = nullptr;
    ViewAccounts accounts;
    int64_t live_keys = 0;
  };
  std::optional<ViewInfo> FindView(absl::string_view id) const;
  std::optional<ViewInfo> FindView(uint32_t number) const;
  std::vector<ViewInfo> ListViews() const;  // by id

  // Open windows after `after`, at most `limit`, by closing time, start, key.
  // Their finality is PROVISIONAL, whether announced or not.
  std::vector<Result> OpenWindows(uint32_t view_number,
                                  const OpenWindowPosition& after,
                                  int limit) const;

  // About what windows, keys and producers take.
  size_t memory_bytes() const;

  // -- Checkpoint: the whole state at version(), as chunks of bounded size.
  // A chunk belongs to a partition (0 to 63, by a stable hash of its keys);
  // what belongs to no key is in partition 0.

  using ChunkSink = std::function<void(uint32_t partition, std::string chunk)>;
  void SaveCheckpoint(const ChunkSink& sink) const;
  // Chunks in the order that they were saved in. DATA_LOSS if they are not
  // what SaveCheckpoint made.
  static absl::StatusOr<std::unique_ptr<Stream>> LoadCheckpoint(
      StreamSpec spec,
      const std::function<absl::StatusOr<std::optional<std::string>>()>& next);

 private:
  struct Impl;
  StreamSpec spec_;
  Progress progress_;
  StreamAccounts accounts_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace casement::engine

#endif  // CASEMENT_SERVER_ENGINE_STREAM_H_
