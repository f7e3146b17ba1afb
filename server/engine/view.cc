#include "server/engine/view.h"

#include <algorithm>
#include <utility>

#include "server/engine/late_entry.h"

namespace casement::engine {

View::View(uint32_t number, ViewDefinition definition, const StreamSpec& stream,
           TimeUs partial_until)
    : number_(number),
      definition_(std::move(definition)),
      stream_(stream),
      partial_until_(partial_until),
      windows_(MakeWindowStore(definition_.spec, stream, partial_until)) {}

void View::Fold(const BatchRecord* batch, const FoldInput& input,
                int64_t accepted, std::vector<uint8_t>* late_rows,
                std::vector<RowFate>* fates, int* fate_windows,
                ViewChanges* changes) {
  changes->view_number = number_;
  outcome_.counted = 0;
  outcome_.late.clear();
  outcome_.partly_late.clear();
  outcome_.unassigned.clear();
  windows_->Fold(input, &outcome_);

  accounts_.accepted += accepted;
  accounts_.counted += outcome_.counted;
  accounts_.late += static_cast<int64_t>(outcome_.late.size());
  accounts_.unassigned += static_cast<int64_t>(outcome_.unassigned.size());
  for (const Refusal& refusal : outcome_.partly_late) {
    accounts_.late_places += refusal.count;
  }
  for (const Refusal& refusal : outcome_.late) (*late_rows)[refusal.row] = 1;
  if (batch != nullptr) KeepLate(*batch, changes);
  if (fates != nullptr) TellFates(fates, fate_windows);
  windows_->emitter().Take(changes, &accounts_);
}

void View::KeepLate(const BatchRecord& batch, ViewChanges* changes) {
  if (definition_.spec.late_event_policy != LateEventPolicy::kKeep) return;
  std::string key;
  for (const Refusal& refusal : outcome_.late) {
    key.clear();
    windows_->resolver().AppendKey(batch.events, refusal.row, &key);
    changes->late_events.push_back(
        {batch.events.SentIndex(refusal.row),
         EncodeLateEvent(batch, stream_, refusal, key)});
  }
}

void View::TellFates(std::vector<RowFate>* fates, int* fate_windows) const {
  const auto tell = [&](const Refusal& refusal, FateInView::State state) {
    RowFate fate;
    fate.row = refusal.row;
    fate.fate.view_number = number_;
    fate.fate.state = state;
    fate.fate.late_window_count = static_cast<int32_t>(refusal.count);
    for (int64_t i = 0; i<refusal.count&& * fate_windows> 0; ++i) {
      const int64_t shift = i * refusal.period;
      fate.fate.late_windows.push_back(
          {refusal.first.start + shift, refusal.first.end + shift});
      --*fate_windows;
    }
    fates->push_back(std::move(fate));
  };
  for (const Refusal& refusal : outcome_.late) {
    tell(refusal, FateInView::State::kLate);
  }
  for (const Refusal& refusal : outcome_.partly_late) {
    tell(refusal, FateInView::State::kCounted);
  }
  for (const int32_t row : outcome_.unassigned) {
    RowFate fate;
    fate.row = row;
    fate.fate.view_number = number_;
    fate.fate.state = FateInView::State::kUnassigned;
    fates->push_back(std::move(fate));
  }
}

Stream::ViewInfo View::Info() const {
  Stream::ViewInfo info;
  info.number = number_;
  info.definition = &definition_;
  info.accounts = accounts_;
  info.live_keys = windows_->live_keys();
  return info;
}

}  // namespace casement::engine
