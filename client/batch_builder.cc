#include "client/batch_builder.h"

#include "absl/strings/str_cat.h"

namespace casement::client {
namespace {

// Sequence, position (1 KiB at most), watermark and the wrapping around them.
constexpr int64_t kBatchOverhead = 2048;

bool RowCanHold(const Event& event) {
  if (!IsUtf8(event.id())) return false;
  for (const auto& [name, value] : event.fields()) {
    if (!IsUtf8(name)) return false;
    const auto* text = std::get_if<std::string>(&value);
    if (text != nullptr && !IsUtf8(*text)) return false;
  }
  return true;
}

}  // namespace

BatchBuilder::BatchBuilder(const ColumnBuilder::Fields& fields, BatchForm form,
                           const BatchLimits& limits)
    : wanted_(form), limits_(limits), columns_(fields) {}

BatchBuilder::Form BatchBuilder::FormOf(const Event& event,
                                        absl::Status* why) const {
  const bool rows = RowCanHold(event);
  if (wanted_ == BatchForm::kRows && rows) return Form::kRows;
  *why = columns_.Check(event);
  if (why->ok()) return Form::kColumns;
  // Rows can say what columns can't: the server then rejects the event with
  // its reason, and the rest counts.
  return rows ? Form::kRows : Form::kNone;
}

bool BatchBuilder::FitsBehind(const Event& event, Form form) const {
  if (form == Form::kRows) {
    return row_bytes_ + MaxRowBytes(event) + kBatchOverhead <=
           limits_.row_bytes;
  }
  return columns_.bytes() + columns_.MaxBytes(event) + kBatchOverhead <=
         limits_.column_bytes;
}

absl::StatusOr<bool> BatchBuilder::NeedsCut(const Event& event) const {
  absl::Status why;
  const Form form = FormOf(event, &why);
  if (form == Form::kNone) {
    return absl::InvalidArgumentError(
        absl::StrCat("the event has text that is not UTF-8, and ",
                     why.message(), ": no form of a batch can hold it"));
  }
  const bool fits = FitsBehind(event, form);
  if (tags_.empty()) {
    if (fits) return false;
    return absl::InvalidArgumentError(
        absl::StrCat("an event of about ", MaxRowBytes(event),
                     " bytes is larger than the server takes in one batch"));
  }
  // A batch that has turned to rows stays so until it is full: else each odd
  // event would make two small batches.
  if (form_ == Form::kRows && form == Form::kColumns && RowCanHold(event)) {
    return full() || !FitsBehind(event, Form::kRows);
  }
  return full() || form != form_ || !fits;
}

void BatchBuilder::Add(const Event& event, absl::string_view position) {
  if (tags_.empty()) {
    absl::Status why;
    form_ = FormOf(event, &why);
  }
  if (form_ == Form::kRows) {
    row_bytes_ += MaxRowBytes(event);
    // NeedsCut has looked at the text.
    static_cast<void>(ToRow(event, rows_.add_events()));
  } else {
    columns_.AddRow(event).IgnoreError();  // NeedsCut has checked it.
  }
  tags_.push_back(event.tag());
  if (!position.empty()) position_ = std::string(position);
}

BuiltBatch BatchBuilder::Take() {
  BuiltBatch built;
  built.events = events();
  built.tags = std::move(tags_);
  tags_.clear();
  if (form_ == Form::kRows) built.batch.mutable_rows()->Swap(&rows_);
  if (form_ == Form::kColumns) *built.batch.mutable_columns() = columns_.Take();
  built.batch.set_source_position(std::move(position_));
  position_.clear();
  rows_.Clear();
  row_bytes_ = 0;
  form_ = Form::kNone;
  return built;
}

}  // namespace casement::client
