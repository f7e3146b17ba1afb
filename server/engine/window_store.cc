#include "server/engine/window_store.h"

#include <limits>

#include "server/engine/aligned_windows.h"
#include "server/engine/session_windows.h"

namespace casement::engine {
namespace {

constexpr KeyId kUnresolved = std::numeric_limits<KeyId>::max();

}  // namespace

WindowStore::WindowStore(const ViewSpec& view, const StreamSpec& stream,
                         TimeUs partial_until)
    : view_(view),
      partial_until_(partial_until),
      aggregates_(view, stream),
      pool_(&aggregates_),
      resolver_(view, stream),
      emitter_(&aggregates_) {}

void WindowStore::Fold(const FoldInput& input, FoldOutcome* outcome) {
  TimeUs seen = input.before;
  if (input.batch != nullptr && input.batch->row_count() > 0) {
    resolver_.Start(*input.batch);
    resolved_.assign(resolver_.local_count(), kUnresolved);
    StartBatch();
    const int rows = input.batch->row_count();
    for (int row = 0; row < rows; ++row) {
      if (input.Skips(row)) continue;
      const TimeUs watermark = input.JudgedBy(row);
      if (watermark >= next_close_) {
        Flush(input);
        CloseUpTo(watermark, seen, input.version);
      }
      seen = watermark;
      Take(input, row, watermark, outcome);
    }
    Flush(input);
  }
  if (input.after >= next_close_) CloseUpTo(input.after, seen, input.version);
  AskTriggers(input);
  keys_.Sweep();
}

void WindowStore::Flush(const FoldInput& input) {
  if (noted_rows_.empty()) return;
  aggregates_.Update(*input.batch, noted_rows_, noted_events_);
  noted_rows_.clear();
  noted_events_.clear();
}

KeyId WindowStore::ResolveKey(const FoldInput& input, int row) {
  KeyId& id = resolved_[resolver_.LocalKey(row)];
  if (id == kUnresolved) {
    key_.clear();
    resolver_.AppendKey(*input.batch, row, &key_);
    id = keys_.FindOrAdd(key_);
  }
  return id;
}

Result WindowStore::OpenResult(const Window& window, TimeUs closing_time,
                               absl::string_view key, const Word* row,
                               bool partial, Version version) const {
  Result result;
  result.window = window;
  result.closing_time = closing_time;
  result.key = std::string(key);
  result.finality = Finality::kProvisional;
  result.version = version;
  const RowHead& head = HeadOf(row);
  result.event_count = head.event_count;
  result.first_event_time = head.first_event_time;
  result.last_event_time = head.last_event_time;
  result.partial_span = partial;
  result.final_at = closing_time + view_.allowed_lateness_us;
  std::string bytes;
  Encoder out(&bytes);
  aggregates_.EncodeValues(row, &out);
  Decoder in(bytes);
  for (uint64_t n = in.Varint(); n > 0; --n) {
    result.values.push_back(DecodeValue(&in));
  }
  return result;
}

std::unique_ptr<WindowStore> MakeWindowStore(const ViewSpec& view,
                                             const StreamSpec& stream,
                                             TimeUs partial_until) {
  if (view.window.kind == WindowKind::kSession) {
    return std::make_unique<SessionWindows>(view, stream, partial_until);
  }
  return std::make_unique<AlignedWindows>(view, stream, partial_until);
}

}  // namespace casement::engine
