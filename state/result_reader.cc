#include "state/result_reader.h"

#include "absl/strings/str_cat.h"
#include "state/database.h"
#include "state/store.h"

namespace casement::state {

LogCursor::LogCursor(const Store& store, uint32_t stream, uint32_t view)
    : database_(store.database()),
      prefix_(ViewKey(Table::kLog, stream, view)),
      iterator_(database_.NewIterator()) {}

LogCursor::~LogCursor() = default;

void LogCursor::Fail(const absl::Status& status) {
  valid_ = false;
  status_ = status;
}

bool LogCursor::EnterChunk() {
  valid_ = false;
  if (!iterator_->Valid() || !iterator_->key().starts_with(prefix_)) {
    status_ = database_.Check(iterator_->status());
    return false;
  }
  const auto key = ParseLogKey(ToView(iterator_->key()));
  if (!key.has_value()) {
    Fail(absl::DataLossError(
        absl::StrCat(database_.path(), ": a key of a log can't be read")));
    return false;
  }
  chunk_ = LogChunkReader(ToView(iterator_->value()));
  version_ = key->version;
  index_ = key->first_index;
  if (!chunk_.Next(&entry_)) {
    Fail(absl::DataLossError(
        absl::StrCat(database_.path(), ": a chunk of a log is damaged")));
    return false;
  }
  valid_ = true;
  return true;
}

void LogCursor::Seek(int64_t version, int64_t index) {
  // The entry may be inside a chunk whose key comes before it.
  const auto view = ParseViewKey(Table::kLog, prefix_);
  const std::string target = LogKey(view->stream, view->view, version, index);
  iterator_->Seek(target);
  const bool exact = iterator_->Valid() && ToView(iterator_->key()) == target;
  if (index > 0 && !exact) {
    if (iterator_->Valid()) {
      iterator_->Prev();
    } else if (iterator_->status().ok()) {
      iterator_->SeekToLast();
    }
    const auto key = iterator_->Valid() && iterator_->key().starts_with(prefix_)
                         ? ParseLogKey(ToView(iterator_->key()))
                         : std::nullopt;
    if (!key.has_value() || key->version != version) {
      // Nothing before it in this version.
      if (!iterator_->status().ok()) {
        Fail(database_.Check(iterator_->status()));
        return;
      }
      iterator_->Seek(target);
    }
  }
  if (!EnterChunk()) return;
  while (valid_ && version_ == version && index_ < index) Next();
}

void LogCursor::Next() {
  if (chunk_.Next(&entry_)) {
    ++index_;
    return;
  }
  if (!chunk_.status().ok()) {
    Fail(absl::DataLossError(
        absl::StrCat(database_.path(), ": ", chunk_.status().message())));
    return;
  }
  NextChunk();
}

void LogCursor::NextChunk() {
  iterator_->Next();
  EnterChunk();
}

absl::string_view LogCursor::chunk() const {
  return ToView(iterator_->value());
}

absl::string_view LogCursor::chunk_key() const {
  return ToView(iterator_->key());
}

RowCursor::RowCursor(const Store& store, uint32_t stream, uint32_t view)
    : database_(store.database()),
      prefix_(ViewKey(Table::kRow, stream, view)),
      iterator_(database_.NewIterator()) {}

RowCursor::~RowCursor() = default;

void RowCursor::Read() {
  valid_ = iterator_->Valid() && iterator_->key().starts_with(prefix_);
  if (!valid_) {
    status_ = database_.Check(iterator_->status());
    return;
  }
  const auto place = ParseRowKey(ToView(iterator_->key()));
  if (place.has_value()) {
    place_ = *place;
    return;
  }
  valid_ = false;
  status_ = absl::DataLossError(
      absl::StrCat(database_.path(), ": a key of a row can't be read"));
}

void RowCursor::SeekAfter(int64_t closing_time, int64_t start,
                          absl::string_view key) {
  const auto view = ParseViewKey(Table::kRow, prefix_);
  std::string target =
      RowKey(view->stream, view->view, closing_time, start, key);
  target.push_back('\0');  // the least key after it
  iterator_->Seek(target);
  Read();
}

void RowCursor::SeekToFirst() {
  iterator_->Seek(prefix_);
  Read();
}

void RowCursor::Next() {
  iterator_->Next();
  Read();
}

absl::string_view RowCursor::row() const { return ToView(iterator_->value()); }

}  // namespace casement::state
