#include "server/engine/aligned_windows.h"

#include <algorithm>
#include <utility>

#include "server/engine/codec.h"
#include "server/engine/key_codec.h"

namespace casement::engine {
namespace {

constexpr size_t kSliceBytes = 192;
constexpr size_t kRowIndexBytes = 24;  // of a slice's table, for each row

}  // namespace

AlignedWindows::AlignedWindows(const ViewSpec& view, const StreamSpec& stream,
                               TimeUs partial_until)
    : WindowStore(view, stream, partial_until),
      grid_(view.window),
      early_(view.trigger.early_every_batch),
      on_time_(view.trigger.on_time && view.allowed_lateness_us > 0),
      late_each_(view.trigger.late_each_change &&
                 view.allowed_lateness_us > 0) {}

AlignedWindows::~AlignedWindows() {
  while (!slices_.empty()) DropSlice(slices_.begin());
}

void AlignedWindows::StartBatch() {
  cache_.assign(resolver_.local_count(), Cached());
  touched_.clear();
}

Refusal AlignedWindows::RefusalOf(int row, TimeUs watermark, int64_t first,
                                  int64_t last) const {
  Refusal refusal;
  refusal.row = row;
  refusal.watermark = watermark;
  refusal.first = grid_.WindowAt(first);
  refusal.period = grid_.period();
  refusal.count = last - first + 1;
  return refusal;
}

void AlignedWindows::Take(const FoldInput& input, int row, TimeUs watermark,
                          FoldOutcome* outcome) {
  const TimeUs time = input.batch->times[row];
  if (!place_known_ || time < place_.start || time >= place_.end) {
    place_ = grid_.PlaceOf(time);
    place_known_ = true;
    const auto found = slices_.find(place_.start);
    slice_ = found == slices_.end() ? nullptr : &found->second;
  }
  if (place_.first > place_.last) {
    outcome->unassigned.push_back(row);
    return;
  }
  if (IsLateBehind(time, watermark)) {
    outcome->late.push_back(
        RefusalOf(row, watermark, place_.first, place_.last));
    return;
  }
  if (watermark >= FinalAt(place_.first)) {
    const int64_t open = FirstOpen(watermark);
    const int64_t last_closed = std::min(open - 1, place_.last);
    const Refusal refusal =
        RefusalOf(row, watermark, place_.first, last_closed);
    if (open > place_.last) {
      outcome->late.push_back(refusal);
      return;
    }
    outcome->partly_late.push_back(refusal);
  }
  ++outcome->counted;
  Slice* slice = slice_ != nullptr ? slice_ : FindOrAddSlice(watermark);
  Note(FindOrAddRow(input, row, slice, watermark), row);
}

AlignedWindows::Slice* AlignedWindows::FindOrAddSlice(TimeUs watermark) {
  Slice& slice = slices_[place_.start];
  slice.place = place_;
  slice_ = &slice;
  const int64_t first = std::max(place_.first, FirstOpen(watermark));
  next_close_ = std::min(next_close_, FinalAt(first));
  return slice_;
}

Word* AlignedWindows::FindOrAddRow(const FoldInput& input, int row,
                                   Slice* slice, TimeUs watermark) {
  Cached& cached = cache_[resolver_.LocalKey(row)];
  if (cached.slice != slice || cached.era != era_) {
    const KeyId key = ResolveKey(input, row);
    Word*& found = slice->rows[key];
    if (found == nullptr) {
      found = pool_.New();
      keys_.Ref(key);
      ++row_count_;
    }
    cached = {slice, found, -1, era_};
    if (Tracks()) {
      cached.touch = static_cast<int64_t>(touched_.size());
      touched_.push_back({slice->place.start, key, watermark});
    }
  }
  if (cached.touch >= 0) touched_[cached.touch].judged_by = watermark;
  return cached.row;
}

bool AlignedWindows::NextWithSlice(int64_t* window) const {
  const auto next = slices_.lower_bound(grid_.StartOf(*window));
  if (next == slices_.end()) return false;
  *window = std::max(*window, next->second.place.first);
  return true;
}

void AlignedWindows::CloseUpTo(TimeUs watermark, TimeUs seen, Version version) {
  // Windows below FirstOpen(seen) were closed before: what lies in their
  // slices came later and was refused for them.
  const int64_t open = FirstOpen(watermark);
  int64_t window = FirstOpen(seen);
  if (!slices_.empty()) {
    window = std::max(window, slices_.begin()->second.place.first);
  }
  for (; window < open && NextWithSlice(&window) && window < open; ++window) {
    EmitFinal(window, version);
  }
  while (!slices_.empty() && slices_.begin()->second.place.last < open) {
    DropSlice(slices_.begin());
  }
  ++era_;
  place_known_ = false;
  slice_ = nullptr;
  UpdateNextClose(watermark);
}

void AlignedWindows::UpdateNextClose(TimeUs watermark) {
  next_close_ = kEndOfTime;
  if (slices_.empty()) return;
  // The earliest slice has the earliest window that is still to be closed.
  next_close_ = FinalAt(
      std::max(slices_.begin()->second.place.first, FirstOpen(watermark)));
}

void AlignedWindows::DropSlice(Slices::iterator slice) {
  for (const auto& [key, row] : slice->second.rows) {
    pool_.Delete(row);
    keys_.Unref(key);
  }
  row_count_ -= slice->second.rows.size();
  slices_.erase(slice);
}

std::vector<AlignedWindows::Member> AlignedWindows::MembersOf(int64_t window) {
  const Window bounds = grid_.WindowAt(window);
  const auto begin = slices_.lower_bound(bounds.start);
  const auto end = slices_.lower_bound(bounds.end);
  std::vector<Member> members;
  if (begin == end) return members;
  if (std::next(begin) == end) {
    members.reserve(begin->second.rows.size());
    for (const auto& [key, row] : begin->second.rows) {
      members.push_back({keys_.Bytes(key), row, false});
    }
  } else {
    absl::flat_hash_map<KeyId, std::pair<Word*, bool>> rows;
    for (auto slice = begin; slice != end; ++slice) {
      for (const auto& [key, row] : slice->second.rows) {
        auto& [into, merged] = rows[key];
        if (into == nullptr) {
          into = row;
          continue;
        }
        if (!merged) {
          Word* copy = pool_.New();
          aggregates_.Merge(copy, into);
          into = copy;
          merged = true;
        }
        aggregates_.Merge(into, row);
      }
    }
    members.reserve(rows.size());
    for (const auto& [key, row] : rows) {
      members.push_back({keys_.Bytes(key), row.first, row.second});
    }
  }
  std::sort(members.begin(), members.end(),
            [](const Member& a, const Member& b) { return a.key < b.key; });
  return members;
}

void AlignedWindows::FreeMembers(const std::vector<Member>& members) {
  for (const Member& member : members) {
    if (member.merged) pool_.Delete(member.row);
  }
}

void AlignedWindows::EmitFinal(int64_t window, Version version) {
  ResultHeader header;
  header.window = grid_.WindowAt(window);
  header.closing_time = header.window.end;
  header.finality = Finality::kFinal;
  header.reason = EmitReason::kWatermark;
  header.partial_span = IsPartial(window);
  const std::vector<Member> members = MembersOf(window);
  for (const Member& member : members) {
    emitter_.Emit(header, member.key, member.row, {}, version);
  }
  FreeMembers(members);
}

void AlignedWindows::AskTriggers(const FoldInput& input) {
  if (!early_ && !on_time_ && !late_each_) return;
  std::vector<Due> due;
  if (on_time_ && input.after > input.before) AddCrossing(input, &due);
  if (input.batch != nullptr) AddTouched(input, &due);
  touched_.clear();
  EmitDue(input, &due);
}

// All keys of the windows whose end the watermark has reached in this record.
void AlignedWindows::AddCrossing(const FoldInput& input,
                                 std::vector<Due>* due) {
  const int64_t open = FirstOpen(input.after);
  const int64_t limit = grid_.FirstEndingAfter(input.after);
  int64_t window = std::max(open, grid_.FirstEndingAfter(input.before));
  for (; window < limit && NextWithSlice(&window) && window < limit; ++window) {
    const Window bounds = grid_.WindowAt(window);
    const auto end = slices_.lower_bound(bounds.end);
    for (auto slice = slices_.lower_bound(bounds.start); slice != end;
         ++slice) {
      for (const auto& [key, row] : slice->second.rows) {
        due->push_back({window, key, Timing::kOnTime});
      }
    }
  }
}

void AlignedWindows::AddTouched(const FoldInput& input, std::vector<Due>* due) {
  const int64_t open = FirstOpen(input.after);
  for (const Touch& touch : touched_) {
    const auto slice = slices_.find(touch.slice_start);
    if (slice == slices_.end()) continue;  // all its windows became final
    const WindowGrid::Place& place = slice->second.place;
    for (int64_t window = std::max(place.first, open); window <= place.last;
         ++window) {
      const TimeUs end = grid_.WindowAt(window).end;
      if (input.after < end) {
        if (early_) due->push_back({window, touch.key, Timing::kEarly});
      } else if (late_each_ && touch.judged_by >= end) {
        // Where the watermark has only just reached the end, the result is an
        // on-time one.
        due->push_back(
            {window, touch.key,
             on_time_ && input.before < end ? Timing::kOnTime : Timing::kLate});
      }
    }
  }
}

void AlignedWindows::EmitDue(const FoldInput& input, std::vector<Due>* due) {
  std::sort(due->begin(), due->end(), [](const Due& a, const Due& b) {
    return std::pair(a.window, a.key) < std::pair(b.window, b.key);
  });
  due->erase(std::unique(due->begin(), due->end(),
                         [](const Due& a, const Due& b) {
                           return a.window == b.window && a.key == b.key;
                         }),
             due->end());
  for (const Due& item : *due) {
    bool merged = false;
    Word* row = MergedRow(item.window, item.key, &merged);
    ResultHeader header;
    header.window = grid_.WindowAt(item.window);
    header.closing_time = header.window.end;
    header.finality = Finality::kProvisional;
    header.timing = item.timing;
    header.reason = item.timing == Timing::kEarly    ? EmitReason::kEarlyTrigger
                    : item.timing == Timing::kOnTime ? EmitReason::kWatermark
                                                     : EmitReason::kLateEvents;
    header.partial_span = IsPartial(item.window);
    header.final_at = FinalAt(item.window);
    emitter_.Emit(header, keys_.Bytes(item.key), row, {}, input.version);
    if (merged) pool_.Delete(row);
  }
}

Word* AlignedWindows::MergedRow(int64_t window, KeyId key, bool* merged) {
  const Window bounds = grid_.WindowAt(window);
  const auto end = slices_.lower_bound(bounds.end);
  Word* into = nullptr;
  for (auto slice = slices_.lower_bound(bounds.start); slice != end; ++slice) {
    const auto found = slice->second.rows.find(key);
    if (found == slice->second.rows.end()) continue;
    if (into == nullptr) {
      into = found->second;
      continue;
    }
    if (!*merged) {
      Word* copy = pool_.New();
      aggregates_.Merge(copy, into);
      into = copy;
      *merged = true;
    }
    aggregates_.Merge(into, found->second);
  }
  return into;
}

std::vector<Result> AlignedWindows::OpenWindows(const OpenWindowPosition& after,
                                                int limit,
                                                Version version) const {
  std::vector<Result> results;
  if (slices_.empty() || limit <= 0) return results;
  // Merging takes rows from the pool and gives them back: nothing that shows.
  AlignedWindows* self = const_cast<AlignedWindows*>(this);
  int64_t window = slices_.begin()->second.place.first;
  if (next_close_ != kEndOfTime) {
    window = std::max(window, FirstOpen(next_close_ - 1));
  }
  if (after.closing_time != kNoWatermark) {
    window = std::max(window, grid_.FirstEndingAfter(after.closing_time - 1));
  }
  for (; NextWithSlice(&window); ++window) {
    const Window bounds = grid_.WindowAt(window);
    const std::vector<Member> members = self->MembersOf(window);
    for (const Member& member : members) {
      if (static_cast<int>(results.size()) == limit) break;
      if (bounds.end == after.closing_time && member.key <= after.key) continue;
      results.push_back(OpenResult(bounds, bounds.end, member.key, member.row,
                                   IsPartial(window), version));
    }
    self->FreeMembers(members);
    if (static_cast<int>(results.size()) == limit) break;
  }
  return results;
}

size_t AlignedWindows::IndexBytes() const {
  return slices_.size() * kSliceBytes + row_count_ * kRowIndexBytes;
}

size_t AlignedWindows::OpenResults() const {
  // Each row can be in so many windows; and each key in as many as there are.
  const size_t covering = static_cast<size_t>(view_.WindowsPerEvent());
  return std::min(row_count_ * covering,
                  keys_.size() * (slices_.size() + covering));
}

// entry := slice start, key, state
void AlignedWindows::Save(const EntrySink& sink) const {
  std::string entry;
  for (const auto& [start, slice] : slices_) {
    for (const auto& [key, row] : slice.rows) {
      entry.clear();
      Encoder out(&entry);
      out.Signed(start);
      out.String(keys_.Bytes(key));
      aggregates_.EncodeState(row, &out);
      sink(PartitionOf(keys_.Bytes(key)), entry);
    }
  }
}

bool AlignedWindows::Load(absl::string_view entry) {
  Decoder in(entry);
  const TimeUs start = in.Signed();
  const absl::string_view key = in.String();
  if (!in.ok() || start < -kMaxEventTime * 2 || start > kMaxEventTime * 2) {
    return false;
  }
  const WindowGrid::Place place = grid_.PlaceOf(start);
  if (place.start != start || place.first > place.last) return false;
  Slice& slice = slices_[start];
  slice.place = place;
  const KeyId id = keys_.FindOrAdd(key);
  Word*& row = slice.rows[id];
  if (row != nullptr) return false;
  row = pool_.New();
  keys_.Ref(id);
  ++row_count_;
  return aggregates_.DecodeState(&in, row) && in.done();
}

void AlignedWindows::Loaded(TimeUs watermark) {
  keys_.Sweep();
  UpdateNextClose(watermark);
}

}  // namespace casement::engine
