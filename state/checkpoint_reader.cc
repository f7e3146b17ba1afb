#include "state/checkpoint_reader.h"

#include "absl/strings/str_cat.h"
#include "state/database.h"
#include "state/keys.h"
#include "state/status_macros.h"

namespace casement::state {

CheckpointReader::CheckpointReader(const Database& database, uint32_t stream,
                                   const CheckpointMark& mark)
    : database_(database),
      stream_(stream),
      mark_(mark),
      prefix_(CheckpointPrefix(stream, mark.checkpoint)),
      iterator_(database.NewIterator()) {
  iterator_->Seek(prefix_);
}

CheckpointReader::~CheckpointReader() = default;

absl::StatusOr<std::optional<std::string>> CheckpointReader::Next() {
  const bool has_key =
      iterator_->Valid() && iterator_->key().starts_with(prefix_);
  if (!has_key) {
    RETURN_IF_ERROR(database_.Check(iterator_->status()));
    if (next_ == mark_.chunks) return std::optional<std::string>();
  }
  const auto key =
      has_key ? ParseCheckpointKey(ToView(iterator_->key())) : std::nullopt;
  if (!key.has_value() || key->number != next_ || next_ >= mark_.chunks) {
    return absl::DataLossError(absl::StrCat(
        database_.path(), ": chunk ", next_, " of checkpoint ",
        mark_.checkpoint, " of stream number ", stream_, " is missing"));
  }
  ++next_;
  std::string chunk = iterator_->value().ToString();
  iterator_->Next();
  return std::optional<std::string>(std::move(chunk));
}

}  // namespace casement::state
