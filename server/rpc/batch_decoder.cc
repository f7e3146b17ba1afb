#include "server/rpc/batch_decoder.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/engine/error.h"
#include "server/rpc/batch_errors.h"
#include "server/rpc/limits.h"
#include "server/rpc/time_conversion.h"

namespace casement::rpc {
namespace {

// At least what the columns take on the wire, without counting it exactly,
// which costs as much as a good part of the decoding.
size_t BoundOfSize(const v1::ColumnBatch& batch) {
  constexpr size_t kMaxVarint = 10;
  constexpr size_t kOverhead = 128;  // of a column or the batch: tags, lengths
  size_t bytes = kOverhead + batch.event_time_deltas_us_size() * kMaxVarint +
                 batch.time_nulls().size() +
                 batch.event_ids().indices_size() * size_t{5};
  for (const std::string& symbol : batch.symbols()) bytes += symbol.size() + 6;
  for (const v1::Column& column : batch.columns()) {
    bytes += kOverhead + column.field().size() + column.nulls().size() +
             column.int64s().values_size() * kMaxVarint +
             column.doubles().values_size() * size_t{8} +
             column.bools().size() +
             column.symbols().indices_size() * size_t{5};
    for (const std::string& value : column.bytes_values().values()) {
      bytes += value.size() + 6;
    }
  }
  return bytes;
}

absl::Status SetState(const v1::Batch& batch, engine::BatchRecord* record) {
  if (!v1::SourceState_IsValid(batch.source_state())) {
    return engine::InvalidField("batch.source_state",
                                "is not a value that this server knows");
  }
  // Wire numbers and the engine's agree; a test holds them together.
  record->source_state = static_cast<engine::SourceState>(batch.source_state());
  if (batch.source_position().size() >
      static_cast<size_t>(engine::kMaxSourcePosition)) {
    return engine::InvalidField(
        "batch.source_position",
        absl::StrCat("must have at most ", engine::kMaxSourcePosition,
                     " bytes"));
  }
  if (!batch.source_position().empty()) {
    record->source_position = batch.source_position();
  }
  if (!batch.has_watermark_time()) return absl::OkStatus();
  engine::TimeUs watermark = 0;
  const TimeFault fault = ToTimeUs(batch.watermark_time(), &watermark);
  if (fault != TimeFault::kNone) {
    return engine::InvalidField("batch.watermark_time", Describe(fault));
  }
  record->asserted_watermark = watermark;
  return absl::OkStatus();
}

}  // namespace

BatchDecoder::BatchDecoder(std::shared_ptr<const engine::StreamSpec> stream)
    : stream_(std::move(stream)), rows_(*stream_), columns_(*stream_) {}

absl::Status BatchDecoder::Decode(const v1::Batch& batch,
                                  engine::BatchRecord* record) {
  *record = engine::BatchRecord();
  if (batch.sequence() < 1) {
    return engine::InvalidField("batch.sequence", "must be 1 or more");
  }
  record->sequence = batch.sequence();
  if (absl::Status status = SetState(batch, record); !status.ok()) {
    return status;
  }
  if (absl::Status status = DecodeEvents(batch, &record->events);
      !status.ok()) {
    return status;
  }
  if (record->events.sent_count == 0 &&
      !record->asserted_watermark.has_value() &&
      record->source_state == engine::SourceState::kUnchanged) {
    return Malformed("batch", "has no events, no watermark and no state");
  }
  return absl::OkStatus();
}

absl::Status BatchDecoder::DecodeEvents(const v1::Batch& batch,
                                        engine::EventBatch* events) {
  switch (batch.events_case()) {
    case v1::Batch::kRows:
      return rows_.Decode(batch.rows(), events);
    case v1::Batch::kColumns:
      if (BoundOfSize(batch.columns()) > kMaxColumnBatchBytes) {
        const size_t bytes = batch.columns().ByteSizeLong();
        if (bytes > kMaxColumnBatchBytes) {
          return TooLarge("bytes", kMaxColumnBatchBytes,
                          static_cast<int64_t>(bytes));
        }
      }
      return columns_.Decode(batch.columns(), events);
    case v1::Batch::EVENTS_NOT_SET:
      events->columns.resize(stream_->fields.size());
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

}  // namespace casement::rpc
