// Gathers what a record brings out in one view: each result is encoded at once
// into one block of bytes, and sorted at the end by closing time, start and
// key.
#ifndef CASEMENT_SERVER_ENGINE_EMITTER_H_
#define CASEMENT_SERVER_ENGINE_EMITTER_H_

#include <memory>
#include <string>
#include <vector>

#include "server/engine/aggregate.h"
#include "server/engine/result_codec.h"
#include "server/engine/stream.h"

namespace casement::engine {

class Emitter {
 public:
  explicit Emitter(const AggregateSet* aggregates) : aggregates_(*aggregates) {}

  // A result of `row`, whose head gives count and times. FINAL results are also
  // stored as rows.
  void Emit(ResultHeader header, absl::string_view key, const Word* row,
            const std::vector<Window>& replaced, Version version);
  // A row of these bounds, announced before, is gone.
  void Retract(const Window& window, TimeUs closing_time,
               absl::string_view key);

  // Hands over everything, in order, and is empty again. Adds the numbers of
  // results to `accounts`.
  void Take(ViewChanges* changes, ViewAccounts* accounts);

 private:
  struct Item {
    TimeUs closing_time;
    TimeUs start;
    size_t key_begin;
    size_t entry_begin;  // the key ends here
    size_t row_begin;    // the entry ends here
    size_t end;
  };
  absl::string_view KeyOf(const Item& item) const {
    return absl::string_view(*arena_).substr(item.key_begin,
                                             item.entry_begin - item.key_begin);
  }

  const AggregateSet& aggregates_;
  std::unique_ptr<std::string> arena_ = std::make_unique<std::string>();
  std::vector<Item> items_;
  std::string entry_;
  std::string state_;
  ViewAccounts counts_;
};

}  // namespace casement::engine

#endif  // CASEMENT_SERVER_ENGINE_EMITTER_H_
