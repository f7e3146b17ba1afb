// The journal's payload.
//
//   record := format:1 kind:1 body
//   batch  := producer epoch sequence digest:8 arrival? watermark?
//   source_state:1
//             position? sent_count row_count rejects sent_index? symbols times
//             column*
//   open   := producer
//   create := view definition
//   delete := view number
//   end    :=
//
// A `?` has a byte before it that says whether it is there. Times are deltas
// from the row before, as signed varints. A column is a byte of flags, the
// nulls (a byte a row) and the slots: int64 as signed varint, double as 8
// bytes, bool as a byte, a symbol as varint.
#include "server/engine/record.h"

#include <utility>

#include "server/engine/codec.h"
#include "server/engine/error.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace casement::engine {
namespace {

constexpr uint8_t kFormat = 1;
enum Kind : uint8_t {
  kBatch = 1,
  kOpenProducer = 2,
  kCreateView = 3,
  kDeleteView = 4,
  kEndStream = 5,
};
constexpr uint8_t kColumnPresent = 1;
constexpr uint8_t kColumnHasNulls = 2;

void EncodeColumn(const Column& column, FieldType type, Encoder* out) {
  if (!column.present) {
    out->Byte(0);
    return;
  }
  out->Byte(kColumnPresent | (column.nulls.empty() ? 0 : kColumnHasNulls));
  out->Raw(column.nulls.data(), column.nulls.size());
  switch (type) {
    case FieldType::kInt64:
      for (const int64_t value : column.int64s) out->Signed(value);
      return;
    case FieldType::kBool:
      for (const int64_t value : column.int64s) out->Byte(value != 0);
      return;
    case FieldType::kDouble:
      out->Raw(column.doubles.data(), column.doubles.size() * sizeof(double));
      return;
    case FieldType::kString:
    case FieldType::kBytes:
      for (const uint32_t value : column.symbols) out->Varint(value);
      return;
  }
}

void DecodeColumn(Decoder* in, FieldType type, int rows, uint32_t symbols,
                  Column* column) {
  const uint8_t flags = in->Byte();
  column->present = (flags & kColumnPresent) != 0;
  if (!column->present) return;
  if (static_cast<size_t>(rows) > in->remaining()) {
    in->Fail();
    return;
  }
  if ((flags & kColumnHasNulls) != 0) {
    column->nulls.resize(rows);
    in->Raw(column->nulls.data(), rows);
  }
  switch (type) {
    case FieldType::kInt64:
      column->int64s.resize(rows);
      for (int64_t& value : column->int64s) value = in->Signed();
      return;
    case FieldType::kBool:
      column->int64s.resize(rows);
      for (int64_t& value : column->int64s) value = in->Enum(0, 1);
      return;
    case FieldType::kDouble:
      column->doubles.resize(rows);
      in->Raw(column->doubles.data(), rows * sizeof(double));
      return;
    case FieldType::kString:
    case FieldType::kBytes:
      column->symbols.resize(rows);
      for (uint32_t& value : column->symbols) {
        const uint64_t index = in->Varint();
        if (index >= symbols) in->Fail();
        value = in->ok() ? static_cast<uint32_t>(index) : 0;
      }
      return;
  }
}

void EncodeEvents(const EventBatch& events, const StreamSpec& stream,
                  Encoder* out) {
  out->Varint(events.sent_count);
  out->Varint(events.row_count());
  out->Varint(events.rejects.size());
  for (const RejectedEvent& reject : events.rejects) {
    // Field and message are for the answer only, which a replay doesn't give.
    out->Varint(reject.index);
    out->Byte(static_cast<uint8_t>(reject.reason));
  }
  out->Byte(!events.sent_index.empty());
  int32_t index = 0;
  for (const int32_t sent : events.sent_index) {
    out->Varint(sent - index);
    index = sent;
  }
  out->Varint(events.symbols.size());
  for (uint32_t i = 0; i < events.symbols.size(); ++i) {
    out->String(events.symbols[i]);
  }
  TimeUs before = 0;
  for (const TimeUs time : events.times) {
    out->Signed(time - before);
    before = time;
  }
  for (size_t i = 0; i < events.columns.size(); ++i) {
    EncodeColumn(events.columns[i], stream.fields[i].type, out);
  }
}

void DecodeRejects(Decoder* in, EventBatch* events) {
  events->rejects.resize(in->Count(2));
  for (RejectedEvent& reject : events->rejects) {
    reject.index = static_cast<int32_t>(in->Varint());
    reject.reason = static_cast<RejectReason>(in->Enum(1, kRejectReasons - 1));
  }
}

void DecodeEvents(Decoder* in, const StreamSpec& stream, EventBatch* events) {
  const uint64_t sent_count = in->Varint();
  const uint64_t rows = in->Count(1);
  if (sent_count > kMaxBatchEvents || rows > sent_count) in->Fail();
  if (!in->ok()) return;
  events->sent_count = static_cast<int32_t>(sent_count);
  DecodeRejects(in, events);
  if (in->Enum(0, 1) != 0) {
    if (rows > in->remaining()) in->Fail();
    events->sent_index.resize(in->ok() ? rows : 0);
    uint64_t index = 0;
    for (int32_t& sent : events->sent_index) {
      index += in->Varint();
      if (index >= sent_count) in->Fail();
      sent = in->ok() ? static_cast<int32_t>(index) : 0;
    }
  }
  const uint64_t symbols = in->Count(1);
  for (uint64_t i = 0; i < symbols && in->ok(); ++i) {
    events->symbols.Add(in->String());
  }
  if (rows > in->remaining()) in->Fail();
  if (!in->ok()) return;
  events->times.resize(rows);
  TimeUs before = 0;
  for (TimeUs& time : events->times) {
    time = static_cast<TimeUs>(static_cast<uint64_t>(before) +
                               static_cast<uint64_t>(in->Signed()));
    if (time < kMinEventTime || time > kMaxEventTime) in->Fail();
    before = time;
  }
  events->columns.resize(stream.fields.size());
  for (size_t i = 0; i < stream.fields.size() && in->ok(); ++i) {
    DecodeColumn(in, stream.fields[i].type, static_cast<int>(rows),
                 events->symbols.size(), &events->columns[i]);
  }
}

void EncodeTime(const std::optional<TimeUs>& time, Encoder* out) {
  out->Byte(time.has_value());
  if (time.has_value()) out->Signed(*time);
}

std::optional<TimeUs> DecodeTime(Decoder* in) {
  if (in->Enum(0, 1) == 0) return std::nullopt;
  return in->Signed();
}

void EncodeBatch(const BatchRecord& batch, const StreamSpec& stream,
                 Encoder* out) {
  out->String(batch.producer);
  out->Signed(batch.epoch);
  out->Signed(batch.sequence);
  out->Fixed64(batch.digest);
  EncodeTime(batch.arrival_time, out);
  EncodeTime(batch.asserted_watermark, out);
  out->Byte(static_cast<uint8_t>(batch.source_state));
  out->Byte(batch.source_position.has_value());
  if (batch.source_position.has_value()) out->String(*batch.source_position);
  EncodeEvents(batch.events, stream, out);
}

BatchRecord DecodeBatch(Decoder* in, const StreamSpec& stream) {
  BatchRecord batch;
  batch.producer = std::string(in->String());
  batch.epoch = in->Signed();
  batch.sequence = in->Signed();
  batch.digest = in->Fixed64();
  batch.arrival_time = DecodeTime(in);
  batch.asserted_watermark = DecodeTime(in);
  batch.source_state = static_cast<SourceState>(
      in->Enum(0, static_cast<uint8_t>(SourceState::kDone)));
  if (in->Enum(0, 1) != 0) batch.source_position = std::string(in->String());
  DecodeEvents(in, stream, &batch.events);
  return batch;
}

}  // namespace

void SetDigest(BatchRecord* batch) {
  std::string rest;
  Encoder out(&rest);
  out.Fixed64(DigestOf(batch->events));
  EncodeTime(batch->asserted_watermark, &out);
  out.Byte(static_cast<uint8_t>(batch->source_state));
  out.Byte(batch->source_position.has_value());
  if (batch->source_position.has_value()) out.String(*batch->source_position);
  batch->digest = XXH3_64bits(rest.data(), rest.size());
}

std::string EncodeRecord(const Record& record, const StreamSpec& stream) {
  std::string bytes;
  Encoder out(&bytes);
  out.Byte(kFormat);
  if (const auto* batch = std::get_if<BatchRecord>(&record)) {
    bytes.reserve(batch->events.memory_bytes());
    out.Byte(kBatch);
    EncodeBatch(*batch, stream, &out);
  } else if (const auto* open = std::get_if<OpenProducerRecord>(&record)) {
    out.Byte(kOpenProducer);
    out.String(open->producer);
  } else if (const auto* create = std::get_if<CreateViewRecord>(&record)) {
    out.Byte(kCreateView);
    out.String(EncodeDefinition(create->definition));
  } else if (const auto* drop = std::get_if<DeleteViewRecord>(&record)) {
    out.Byte(kDeleteView);
    out.Varint(drop->view_number);
  } else {
    out.Byte(kEndStream);
  }
  return bytes;
}

absl::StatusOr<Record> DecodeRecord(absl::string_view bytes,
                                    const StreamSpec& stream) {
  Decoder in(bytes);
  if (in.Byte() != kFormat) in.Fail();
  Record record;
  switch (in.Byte()) {
    case kBatch:
      record = DecodeBatch(&in, stream);
      break;
    case kOpenProducer:
      record = OpenProducerRecord{std::string(in.String())};
      break;
    case kCreateView: {
      CreateViewRecord create;
      absl::Status status = DecodeDefinition(in.String(), &create.definition);
      if (status.ok()) status = ValidateView(create.definition.spec, stream);
      if (!status.ok()) in.Fail();
      record = std::move(create);
      break;
    }
    case kDeleteView:
      record = DeleteViewRecord{static_cast<uint32_t>(in.Varint())};
      break;
    case kEndStream:
      record = EndStreamRecord{};
      break;
    default:
      in.Fail();
  }
  if (!in.done()) {
    return MakeError(absl::StatusCode::kDataLoss, kStoreCorrupt,
                     "a journal record is damaged");
  }
  return record;
}

}  // namespace casement::engine
