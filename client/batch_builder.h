// Gathers events into batches of bounded size. What this is for: which events
// go together, and in which wire form. The one invariant: batches hold the
// events in the order in which they were added, each exactly once; where an
// event can't be said in the wanted form (a number in a string field has no
// column, text that is not UTF-8 no row), it goes in a batch of the other form.

#ifndef CASEMENT_CLIENT_BATCH_BUILDER_H_
#define CASEMENT_CLIENT_BATCH_BUILDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/column_builder.h"
#include "client/event.h"

namespace casement::client {

enum class BatchForm { kColumns, kRows };

struct BatchLimits {
  int64_t events = 4096;
  int64_t column_bytes = 1 << 20;
  int64_t row_bytes = 3 << 20;
};

// A batch that waits for its sequence, and what stays at home with it.
struct BuiltBatch {
  v1::Batch batch;
  int64_t events = 0;
  // Of each event, in order; empty for a batch that was given ready-made.
  std::vector<int64_t> tags;
};

// Not thread-safe.
class BatchBuilder {
 public:
  BatchBuilder(const ColumnBuilder::Fields& fields, BatchForm form,
               const BatchLimits& limits);

  // Whether the event must go into a batch after the present one: it is full,
  // or in another form. OK to add if false. INVALID_ARGUMENT: it fits in no
  // batch, in neither form.
  absl::StatusOr<bool> NeedsCut(const Event& event) const;

  // Adds an event that NeedsCut answered false for. `position` is where the
  // caller's own input stands after it; empty leaves it as it was.
  void Add(const Event& event, absl::string_view position);

  int64_t events() const { return static_cast<int64_t>(tags_.size()); }
  bool full() const { return events() >= limits_.events; }

  // The batch so far; the builder is empty then.
  BuiltBatch Take();

 private:
  enum class Form { kNone, kColumns, kRows };

  // kNone if neither can hold it; `*why` says why not.
  Form FormOf(const Event& event, absl::Status* why) const;
  bool FitsBehind(const Event& event, Form form) const;

  const BatchForm wanted_;
  const BatchLimits limits_;
  Form form_ = Form::kNone;
  ColumnBuilder columns_;
  v1::RowBatch rows_;
  int64_t row_bytes_ = 0;
  std::vector<int64_t> tags_;
  std::string position_;
};

}  // namespace casement::client

#endif  // CASEMENT_CLIENT_BATCH_BUILDER_H_
