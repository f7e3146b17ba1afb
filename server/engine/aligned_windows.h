// Tumbling and sliding windows, kept as slices: one row for each key in each
// slice that has events. A window is merged from its slices when it is emitted.
//
// Invariant: a slice is there only while a window that holds it is open. A late
// event may go into an old slice of which some windows are closed: they have
// been emitted and are never merged again, so it changes the open ones only.
#ifndef CASEMENT_SERVER_ENGINE_ALIGNED_WINDOWS_H_
#define CASEMENT_SERVER_ENGINE_ALIGNED_WINDOWS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/engine/window_grid.h"
#include "server/engine/window_store.h"

namespace casement::engine {

class AlignedWindows : public WindowStore {
 public:
  AlignedWindows(const ViewSpec& view, const StreamSpec& stream,
                 TimeUs partial_until);
  ~AlignedWindows() override;

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
  void StartBatch() override;
  size_t IndexBytes() const override;
  size_t OpenResults() const override;

 private:
  struct Slice {
    WindowGrid::Place place;
    absl::flat_hash_map<KeyId, Word*> rows;
  };
  using Slices = std::map<TimeUs, Slice>;  // by start; addresses stay

  // A key and its row in a window; `merged` rows are temporary.
  struct Member {
    absl::string_view key;
    Word* row;
    bool merged;
  };
  // A row of the batch's key in the slice it was last in.
  struct Cached {
    const Slice* slice = nullptr;
    Word* row = nullptr;
    int64_t touch = -1;
    uint64_t era = 0;
  };
  // A key in a slice that this record changed, and the watermark that its last
  // change was judged by.
  struct Touch {
    TimeUs slice_start;
    KeyId key;
    TimeUs judged_by;
  };
  // A provisional result that is due.
  struct Due {
    int64_t window;
    KeyId key;
    Timing timing;
  };

  TimeUs FinalAt(int64_t window) const {
    return grid_.WindowAt(window).end + view_.allowed_lateness_us;
  }
  // Windows below this are final at `watermark`.
  int64_t FirstOpen(TimeUs watermark) const {
    return grid_.FirstEndingAfter(Later(watermark, -view_.allowed_lateness_us));
  }
  bool Tracks() const { return early_ || late_each_; }
  bool IsPartial(int64_t window) const {
    return grid_.StartOf(window) <= partial_until_;
  }

  Slice* FindOrAddSlice(TimeUs watermark);
  Word* FindOrAddRow(const FoldInput& input, int row, Slice* slice,
                     TimeUs watermark);
  Refusal RefusalOf(int row, TimeUs watermark, int64_t first,
                    int64_t last) const;
  // The members of a window, by key bytes. Merged rows are for FreeMembers.
  std::vector<Member> MembersOf(int64_t window);
  void FreeMembers(const std::vector<Member>& members);
  Word* MergedRow(int64_t window, KeyId key, bool* merged);
  void EmitFinal(int64_t window, Version version);
  void DropSlice(Slices::iterator slice);
  void UpdateNextClose(TimeUs watermark);
  // The first window at or after `window` that holds a slice; nothing: none.
  bool NextWithSlice(int64_t* window) const;

  void AddCrossing(const FoldInput& input, std::vector<Due>* due);
  void AddTouched(const FoldInput& input, std::vector<Due>* due);
  void EmitDue(const FoldInput& input, std::vector<Due>* due);

  const WindowGrid grid_;
  const bool early_;
  const bool on_time_;
  const bool late_each_;
  Slices slices_;
  // The place of the last event, and its slice if it has one.
  WindowGrid::Place place_;
  Slice* slice_ = nullptr;
  bool place_known_ = false;
  std::vector<Cached> cache_;  // by the batch's local keys
  uint64_t era_ = 1;           // goes up whenever rows may be gone
  std::vector<Touch> touched_;
  size_t row_count_ = 0;
};

}  // namespace casement::engine

#endif  // CASEMENT_SERVER_ENGINE_ALIGNED_WINDOWS_H_
