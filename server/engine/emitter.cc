#include "server/engine/emitter.h"

#include <algorithm>

namespace casement::engine {

void Emitter::Emit(ResultHeader header, absl::string_view key, const Word* row,
                   const std::vector<Window>& replaced, Version version) {
  const RowHead& head = HeadOf(row);
  header.event_count = head.event_count;
  header.first_event_time = head.first_event_time;
  header.last_event_time = head.last_event_time;
  Item item;
  item.closing_time = header.closing_time;
  item.start = header.window.start;
  item.key_begin = arena_->size();
  arena_->append(key.data(), key.size());
  item.entry_begin = arena_->size();
  Encoder out(arena_.get());
  EncodeHeader(header, key, replaced, &out);
  aggregates_.EncodeValues(row, &out);
  item.row_begin = arena_->size();
  if (header.finality == Finality::kFinal) {
    entry_.assign(*arena_, item.entry_begin, item.row_begin - item.entry_begin);
    state_.clear();
    Encoder state(&state_);
    aggregates_.EncodeState(row, &state);
    out.Signed(version);
    out.String(entry_);
    out.String(state_);
    ++counts_.final_results;
  } else {
    ++counts_.provisional_results;
  }
  item.end = arena_->size();
  items_.push_back(item);
}

void Emitter::Retract(const Window& window, TimeUs closing_time,
                      absl::string_view key) {
  ResultHeader header;
  header.window = window;
  header.closing_time = closing_time;
  header.finality = Finality::kRetracted;
  header.retracted_finality = Finality::kProvisional;
  header.reason = EmitReason::kSessionMerge;
  Item item;
  item.closing_time = closing_time;
  item.start = window.start;
  item.key_begin = arena_->size();
  arena_->append(key.data(), key.size());
  item.entry_begin = arena_->size();
  Encoder out(arena_.get());
  EncodeHeader(header, key, {}, &out);
  out.Varint(0);
  item.row_begin = item.end = arena_->size();
  items_.push_back(item);
  ++counts_.retracted_results;
}

void Emitter::Take(ViewChanges* changes, ViewAccounts* accounts) {
  std::stable_sort(items_.begin(), items_.end(),
                   [this](const Item& a, const Item& b) {
                     if (a.closing_time != b.closing_time) {
                       return a.closing_time < b.closing_time;
                     }
                     if (a.start != b.start) return a.start < b.start;
                     return KeyOf(a) < KeyOf(b);
                   });
  changes->results.clear();
  changes->results.reserve(items_.size());
  const absl::string_view bytes(*arena_);
  for (const Item& item : items_) {
    ResultEntry entry;
    entry.closing_time = item.closing_time;
    entry.start = item.start;
    entry.key = KeyOf(item);
    entry.log_entry =
        bytes.substr(item.entry_begin, item.row_begin - item.entry_begin);
    entry.row = bytes.substr(item.row_begin, item.end - item.row_begin);
    changes->results.push_back(entry);
  }
  changes->arena = std::move(arena_);
  arena_ = std::make_unique<std::string>();
  items_.clear();
  accounts->final_results += counts_.final_results;
  accounts->provisional_results += counts_.provisional_results;
  accounts->retracted_results += counts_.retracted_results;
  counts_ = ViewAccounts();
}

}  // namespace casement::engine
