// The only place that joins the engine and the store: threads, clock, and the
// commit pipeline. A request goes to its stream's engine thread, which admits
// and folds it; the record goes to the journal thread, which writes all that
// wait in one synced write; then the answer goes out, and the publisher thread
// writes what followed (results, rows, late events) and moves the publication
// frontier, which wakes subscribers. Reads never show what is not durable.
//
// All methods are thread-safe and never block; each callback is called exactly
// once, from a thread of the runtime (or at once from the caller's), and must
// not block either. After a failed write the runtime drops its memory, answers
// UNAVAILABLE (READ_ONLY) with a retry delay, and opens the store anew until
// that works.
#ifndef CASEMENT_SERVER_RUNTIME_RUNTIME_H_
#define CASEMENT_SERVER_RUNTIME_RUNTIME_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/engine/record.h"
#include "server/engine/result.h"
#include "server/engine/spec.h"
#include "server/engine/stream.h"
#include "server/engine/types.h"
#include "server/runtime/clock.h"

namespace casement::runtime {

template <typename T>
using Done = std::function<void(absl::StatusOr<T>)>;
using DoneStatus = std::function<void(absl::Status)>;

struct RuntimeOptions {
  std::string data_dir;
  int engine_threads = 1;
  int reader_threads = 2;
  // Input that waits for the engine or the journal; above it,
  // RESOURCE_EXHAUSTED (OVERLOADED) with a retry delay.
  size_t max_queued_bytes = 64 << 20;
  // Of all streams' open windows, keys and producers; above it batches are
  // refused likewise.
  size_t max_state_bytes = size_t{4} << 30;
  // A checkpoint of all streams that changed comes after this much journal.
  size_t checkpoint_bytes = 128 << 20;
  // BUFFERED batches are synced at the latest after this.
  int64_t buffered_sync_us = 100'000;
};

struct StreamInfo {
  engine::StreamDefinition definition;
  engine::Progress progress;  // durable
  engine::StreamAccounts accounts;
  int64_t duplicate_batches = 0;  // since the server started
};

struct ViewInfo {
  engine::ViewDefinition definition;
  uint32_t number = 0;
  engine::Progress progress;  // as published: readable
  engine::ViewAccounts accounts;
  int64_t live_keys = 0;
};

enum class Durability { kSynced, kBuffered };

struct AppendOptions {
  Durability durability = Durability::kSynced;
  bool fates = false;
};

struct AppendResult {
  engine::BatchAck ack;
  // By index: those of the wire form and those of the fold.
  std::vector<engine::RejectedEvent> rejects;
  struct Fate {
    int32_t index = 0;
    struct InView {
      std::string view;  // id
      engine::FateInView::State state = engine::FateInView::State::kCounted;
      int32_t late_window_count = 0;
      std::vector<engine::Window> late_windows;
    };
    std::vector<InView> in_views;
  };
  std::vector<Fate> fates;
};

struct OpenedProducer {
  int64_t epoch = 0;
  int64_t last_sequence = 0;
  engine::TimeUs watermark = engine::kNoWatermark;  // the producer's
  std::string source_position;
};

// A place in a view's result log: all entries up to (version, index) are
// behind it. index counts the entries of a version from 0; -1 is before them.
struct LogPosition {
  engine::Version version = 0;
  int64_t index = -1;
  friend auto operator<=>(const LogPosition&, const LogPosition&) = default;
};

// What identifies a view's log for good: no other view, also of another store
// or another life of the same name, has it.
struct LogIdentity {
  std::string store_id;
  uint32_t stream_number = 0;
  uint32_t view_number = 0;
};

struct LogChunk {
  std::vector<engine::Result> results;  // those that the filter lets through
  LogPosition position;                 // to go on after
  // All results up to this version have been handed out.
  engine::Version served_version = 0;
  bool partial_version = false;  // the last result's version goes on
  // Everything published has been handed out; `progress` is then set, and is
  // what the view had published.
  bool caught_up = false;
  engine::Progress progress;
  engine::Progress head_progress;
};

// One subscriber's way through a view's log. It holds a position and no queue.
// At most one Next at a time.
class LogReader {
 public:
  virtual ~LogReader() = default;
  virtual const LogIdentity& identity() const = 0;
  virtual const engine::ViewDefinition& view() const = 0;
  virtual engine::Progress head_progress() const = 0;
  // The place it starts from.
  virtual LogPosition position() const = 0;

  // Reads on after the position, on a reader thread: at most about `max_bytes`
  // of results (one at least). With nothing new it answers at once, with an
  // empty chunk and caught_up. Errors: UNAVAILABLE (the runtime reopens its
  // store or drains), NOT_FOUND (the view was deleted), DATA_LOSS.
  virtual void Next(size_t max_bytes, Done<LogChunk> done) = 0;

  // Calls `wake` once: as soon as there is something after the position, or
  // when Next would fail; at once if that is so already. A later call replaces
  // an earlier one that hasn't fired; null takes it back. After it returns, a
  // replaced wake is not running and will not run. It must not be called from
  // within a wake, nor with a lock held that a wake takes.
  virtual void WakeOnNews(std::function<void()> wake) = 0;
};

struct LogStart {
  enum class Kind { kNow, kOldest, kAfter } kind = Kind::kNow;
  LogPosition after;  // kAfter
};

// Lets an entry through by finality; a RETRACTED one if kRetracted is asked for
// by name or the row that it takes back would have passed.
struct FinalityFilter {
  bool all = true;
  bool allowed[5] = {};  // by engine::Finality
};

// A place in a listing of windows: first final rows, then open ones.
struct WindowListPosition {
  engine::Version rows_version = 0;  // 0: a new listing
  bool in_open = false;
  engine::TimeUs closing_time = engine::kNoWatermark;
  engine::TimeUs start = engine::kNoWatermark;
  std::string key;
};

struct ListWindowsQuery {
  bool final_rows = true;  // FINAL and CORRECTED
  bool open_windows = false;
  WindowListPosition after;
  int max_results = 100;
  size_t max_bytes = 1 << 20;
  engine::Version min_version = 0;
};

struct WindowPage {
  engine::ViewDefinition view;
  std::vector<engine::Result> results;
  std::optional<WindowListPosition> next;  // nothing: the end
  engine::Progress progress;
};

enum class ServerState { kRecovering, kServing, kReadOnly, kDraining };

class Runtime {
 public:
  // Opens or makes the store and recovers all streams, before it returns.
  // Errors tell what a person must do; their payload tells the kind (see
  // state/store.h: in use, foreign, newer format, unwritable, corrupt).
  // `clock` outlives the runtime.
  static absl::StatusOr<std::unique_ptr<Runtime>> Start(
      const RuntimeOptions& options, Clock* clock);
  virtual ~Runtime() = default;

  // Refuses new input with UNAVAILABLE (DRAINING), commits and publishes what
  // was taken, checkpoints, wakes all readers, and closes the store. Blocks.
  virtual void Drain() = 0;

  virtual ServerState state() const = 0;
  // Called when the state changes, from a thread of the runtime.
  virtual void OnStateChange(std::function<void(ServerState)> changed) = 0;
  virtual std::string store_id() const = 0;
  virtual int store_format() const = 0;

  // -- Definitions. Names of errors and their reasons: engine/error.h.

  virtual void CreateStream(engine::StreamDefinition definition,
                            bool validate_only, Done<StreamInfo> done) = 0;
  virtual void GetStream(std::string stream, Done<StreamInfo> done) = 0;
  // By id, after `after`.
  virtual void ListStreams(std::string after, int limit,
                           Done<std::vector<StreamInfo>> done) = 0;
  virtual void EndStream(std::string stream, Done<StreamInfo> done) = 0;
  virtual void DeleteStream(std::string stream, bool force,
                            DoneStatus done) = 0;
  virtual void CreateView(std::string stream, engine::ViewDefinition definition,
                          bool validate_only, Done<ViewInfo> done) = 0;
  virtual void GetView(std::string stream, std::string view,
                       Done<ViewInfo> done) = 0;
  virtual void ListViews(std::string stream, std::string after, int limit,
                         Done<std::vector<ViewInfo>> done) = 0;
  virtual void DeleteView(std::string stream, std::string view,
                          DoneStatus done) = 0;

  // -- Ingest

  // The fields of a stream, to decode a batch by. Answers at once.
  virtual absl::StatusOr<std::shared_ptr<const engine::StreamSpec>>
  FindStreamSpec(absl::string_view stream) const = 0;
  virtual void OpenProducer(std::string stream, std::string producer,
                            std::optional<int64_t> expected_epoch,
                            Done<OpenedProducer> done) = 0;
  virtual void GetProducer(std::string stream, std::string producer,
                           Done<engine::ProducerInfo> done) = 0;
  // The arrival time is stamped here. Fates of too large a batch are refused
  // (engine::Stream::AdmitFates). Answers when the batch is durable, as the
  // options say. Batches of one stream are taken in the order of the calls.
  virtual void Append(std::string stream, engine::BatchRecord batch,
                      AppendOptions options, Done<AppendResult> done) = 0;

  // -- Results

  // Checks `start` against the view's log: INVALID_ARGUMENT (CURSOR_INVALID)
  // for a position beyond the head.
  virtual void OpenLog(std::string stream, std::string view, LogStart start,
                       FinalityFilter filter,
                       Done<std::shared_ptr<LogReader>> done) = 0;
  // Waits for min_version without a limit of its own: cancelled by `cancelled`
  // returning true at the next publication, or by Drain.
  virtual void ListWindows(std::string stream, std::string view,
                           ListWindowsQuery query,
                           std::function<bool()> cancelled,
                           Done<WindowPage> done) = 0;
};

}  // namespace casement::runtime

#endif  // CASEMENT_SERVER_RUNTIME_RUNTIME_H_
