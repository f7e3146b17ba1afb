// Rows of accumulators, in pages that are kept: a row's address stays while it
// lives, and memory given back is used again, since the first touch of a page
// costs more than all else that happens to a row.
#ifndef CASEMENT_SERVER_ENGINE_ROW_POOL_H_
#define CASEMENT_SERVER_ENGINE_ROW_POOL_H_

#include <memory>
#include <vector>

#include "server/engine/aggregate.h"

namespace casement::engine {

class RowPool {
 public:
  // `aggregates` outlives the pool.
  explicit RowPool(AggregateSet* aggregates)
      : aggregates_(*aggregates), row_words_(aggregates->row_words()) {}

  Word* New() {
    if (free_.empty()) AddPage();
    Word* row = free_.back();
    free_.pop_back();
    aggregates_.Init(row);
    ++live_;
    return row;
  }
  void Delete(Word* row) {
    aggregates_.Destroy(row);
    free_.push_back(row);
    --live_;
  }
  size_t live_bytes() const { return live_ * row_words_ * sizeof(Word); }

 private:
  static constexpr int kRowsInPage = 256;

  void AddPage() {
    pages_.push_back(std::make_unique<Word[]>(kRowsInPage * row_words_));
    for (int i = kRowsInPage - 1; i >= 0; --i) {
      free_.push_back(pages_.back().get() + i * row_words_);
    }
  }

  AggregateSet& aggregates_;
  const int row_words_;
  std::vector<std::unique_ptr<Word[]>> pages_;
  std::vector<Word*> free_;
  size_t live_ = 0;
};

}  // namespace casement::engine

#endif  // CASEMENT_SERVER_ENGINE_ROW_POOL_H_
