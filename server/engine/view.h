// A view: its definition, its open windows and its accounts. It takes each
// record of its stream and turns what became of the events into results, late
// entries, fates and counts.
#ifndef CASEMENT_SERVER_ENGINE_VIEW_H_
#define CASEMENT_SERVER_ENGINE_VIEW_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "server/engine/record.h"
#include "server/engine/stream.h"
#include "server/engine/window_store.h"

namespace casement::engine {

// The fate of a row in a view that did not simply count it.
struct RowFate {
  int32_t row = 0;
  FateInView fate;
};

class View {
 public:
  View(uint32_t number, ViewDefinition definition, const StreamSpec& stream,
       TimeUs partial_until);

  uint32_t number() const { return number_; }
  const ViewDefinition& definition() const { return definition_; }
  TimeUs partial_until() const { return partial_until_; }
  const ViewAccounts& accounts() const { return accounts_; }
  ViewAccounts& mutable_accounts() { return accounts_; }
  WindowStore& windows() { return *windows_; }
  const WindowStore& windows() const { return *windows_; }

  // `batch` is the record behind `input`, or null for a control record.
  // `accepted`: how many of its events the stream accepted. Late rows are
  // marked in `late_rows`; fates are added if wanted, at most as many windows
  // as `fate_windows` still allows.
  void Fold(const BatchRecord* batch, const FoldInput& input, int64_t accepted,
            std::vector<uint8_t>* late_rows, std::vector<RowFate>* fates,
            int* fate_windows, ViewChanges* changes);

  Stream::ViewInfo Info() const;

 private:
  void KeepLate(const BatchRecord& batch, ViewChanges* changes);
  void TellFates(std::vector<RowFate>* fates, int* fate_windows) const;

  const uint32_t number_;
  const ViewDefinition definition_;
  const StreamSpec& stream_;
  const TimeUs partial_until_;
  std::unique_ptr<WindowStore> windows_;
  ViewAccounts accounts_;
  FoldOutcome outcome_;  // of the last record
};

}  // namespace casement::engine

#endif  // CASEMENT_SERVER_ENGINE_VIEW_H_
