// late_event := format:1 producer sequence index arrival? event_time watermark
//               key first_start first_end period missed_count count value*
//
// A value is written as in result.cc.
#include "server/engine/late_entry.h"

#include "server/engine/codec.h"
#include "server/engine/error.h"
#include "server/engine/result_codec.h"

namespace casement::engine {
namespace {

constexpr uint8_t kFormat = 1;

AggregateValue FieldValue(const EventBatch& events, const Column& column,
                          FieldType type, int row) {
  if (column.IsNull(row)) return AggregateValue();
  switch (type) {
    case FieldType::kInt64:
      return column.int64s[row];
    case FieldType::kDouble:
      return column.doubles[row];
    case FieldType::kBool:
      return column.int64s[row] != 0;
    case FieldType::kString:
      return std::string(events.symbols[column.symbols[row]]);
    case FieldType::kBytes:
      return Bytes{std::string(events.symbols[column.symbols[row]])};
  }
  return AggregateValue();
}

}  // namespace

std::string EncodeLateEvent(const BatchRecord& batch, const StreamSpec& stream,
                            const Refusal& refusal, absl::string_view key) {
  const EventBatch& events = batch.events;
  std::string bytes;
  Encoder out(&bytes);
  out.Byte(kFormat);
  out.String(batch.producer);
  out.Signed(batch.sequence);
  out.Varint(events.SentIndex(refusal.row));
  out.Byte(batch.arrival_time.has_value());
  if (batch.arrival_time.has_value()) out.Signed(*batch.arrival_time);
  out.Signed(events.times[refusal.row]);
  out.Signed(refusal.watermark);
  out.String(key);
  out.Signed(refusal.first.start);
  out.Signed(refusal.first.end);
  out.Signed(refusal.period);
  out.Signed(refusal.count);
  out.Varint(stream.fields.size());
  for (size_t i = 0; i < stream.fields.size(); ++i) {
    EncodeValue(FieldValue(events, events.columns[i], stream.fields[i].type,
                           refusal.row),
                &out);
  }
  return bytes;
}

absl::StatusOr<LateEvent> DecodeLateEvent(absl::string_view bytes) {
  Decoder in(bytes);
  LateEvent event;
  if (in.Byte() != kFormat) in.Fail();
  event.producer = std::string(in.String());
  event.sequence = in.Signed();
  event.index = static_cast<int32_t>(in.Varint());
  if (in.Enum(0, 1) != 0) event.arrival_time = in.Signed();
  event.event_time = in.Signed();
  event.watermark = in.Signed();
  event.key = std::string(in.String());
  event.first_missed.start = in.Signed();
  event.first_missed.end = in.Signed();
  event.period = in.Signed();
  event.missed_count = in.Signed();
  for (uint64_t n = in.Count(1); n > 0 && in.ok(); --n) {
    AggregateValue value = DecodeValue(&in);
    if (std::holds_alternative<MeanValue>(value)) in.Fail();
    std::visit(
        [&event](auto& held) {
          using T = std::decay_t<decltype(held)>;
          if constexpr (!std::is_same_v<T, MeanValue>) {
            event.fields.emplace_back(std::move(held));
          }
        },
        value);
  }
  if (!in.done()) {
    return MakeError(absl::StatusCode::kDataLoss, kStoreCorrupt,
                     "a stored late event is damaged");
  }
  return event;
}

}  // namespace casement::engine
