// Stored definitions.
//
//   stream := version:1 id display_name labels create_time fields watermark
//             invalid_event_policy
//   view   := version:1 id display_name labels create_time window group_by
//             aggregates allowed_lateness late_rule session_late_check trigger
//             late_event_policy
//
// Strings have a length before them, numbers are varints (signed: zig-zag),
// enums are bytes, lists have a count before them.
#include "absl/status/status.h"
#include "server/engine/codec.h"
#include "server/engine/error.h"
#include "server/engine/spec.h"

namespace casement::engine {
namespace {

constexpr uint8_t kFormat = 1;

template <typename E>
void PutEnum(Encoder* out, E value) {
  out->Byte(static_cast<uint8_t>(value));
}

template <typename E>
void GetEnum(Decoder* in, E* value, E least, E most) {
  *value = static_cast<E>(
      in->Enum(static_cast<uint8_t>(least), static_cast<uint8_t>(most)));
}

void GetString(Decoder* in, std::string* value) {
  *value = std::string(in->String());
}

template <typename T>
void PutCommon(Encoder* out, const T& definition) {
  out->Byte(kFormat);
  out->String(definition.id);
  out->String(definition.display_name);
  out->Varint(definition.labels.size());
  for (const auto& [key, value] : definition.labels) {
    out->String(key);
    out->String(value);
  }
  out->Signed(definition.create_time);
}

template <typename T>
void GetCommon(Decoder* in, T* definition) {
  if (in->Byte() != kFormat) in->Fail();
  GetString(in, &definition->id);
  GetString(in, &definition->display_name);
  definition->labels.clear();
  for (uint64_t n = in->Count(2); n > 0; --n) {
    std::string key(in->String());
    definition->labels[std::move(key)] = std::string(in->String());
  }
  definition->create_time = in->Signed();
}

absl::Status Verdict(const Decoder& in, absl::string_view what) {
  if (in.done()) return absl::OkStatus();
  return MakeError(absl::StatusCode::kDataLoss, kStoreCorrupt, what);
}

}  // namespace

std::string EncodeDefinition(const StreamDefinition& definition) {
  std::string bytes;
  Encoder out(&bytes);
  PutCommon(&out, definition);
  const StreamSpec& spec = definition.spec;
  out.Varint(spec.fields.size());
  for (const FieldSpec& field : spec.fields) {
    out.String(field.name);
    PutEnum(&out, field.type);
    out.Byte(field.required);
  }
  const WatermarkSpec& watermark = spec.watermark;
  PutEnum(&out, watermark.source);
  out.Signed(watermark.max_delay_us);
  PutEnum(&out, watermark.combine);
  PutEnum(&out, watermark.advance);
  PutEnum(&out, watermark.future_action);
  out.Signed(watermark.max_future_skew_us);
  out.Varint(watermark.required_producers.size());
  for (const std::string& id : watermark.required_producers) out.String(id);
  PutEnum(&out, spec.invalid_event_policy);
  return bytes;
}

absl::Status DecodeDefinition(absl::string_view bytes,
                              StreamDefinition* definition) {
  Decoder in(bytes);
  *definition = StreamDefinition();
  GetCommon(&in, definition);
  StreamSpec& spec = definition->spec;
  for (uint64_t n = in.Count(3); n > 0; --n) {
    FieldSpec field;
    GetString(&in, &field.name);
    GetEnum(&in, &field.type, FieldType::kInt64, FieldType::kBytes);
    field.required = in.Enum(0, 1) != 0;
    spec.fields.push_back(std::move(field));
  }
  WatermarkSpec& watermark = spec.watermark;
  GetEnum(&in, &watermark.source, WatermarkSource::kBoundedDelay,
          WatermarkSource::kAsserted);
  watermark.max_delay_us = in.Signed();
  GetEnum(&in, &watermark.combine, Combine::kLeastOverProducers,
          Combine::kGreatest);
  GetEnum(&in, &watermark.advance, Advance::kAfterEachEvent,
          Advance::kAfterEachBatch);
  GetEnum(&in, &watermark.future_action, FutureAction::kHold,
          FutureAction::kAccept);
  watermark.max_future_skew_us = in.Signed();
  for (uint64_t n = in.Count(1); n > 0; --n) {
    watermark.required_producers.emplace_back(in.String());
  }
  GetEnum(&in, &spec.invalid_event_policy, InvalidEventPolicy::kRejectEvent,
          InvalidEventPolicy::kRejectBatch);
  return Verdict(in, "a stream's stored definition is damaged");
}

std::string EncodeDefinition(const ViewDefinition& definition) {
  std::string bytes;
  Encoder out(&bytes);
  PutCommon(&out, definition);
  const ViewSpec& spec = definition.spec;
  PutEnum(&out, spec.window.kind);
  out.Signed(spec.window.size_us);
  out.Signed(spec.window.period_us);
  out.Signed(spec.window.offset_us);
  out.Signed(spec.window.gap_us);
  PutEnum(&out, spec.window.gap_rule);
  out.Varint(spec.group_by.size());
  for (const std::string& field : spec.group_by) out.String(field);
  out.Varint(spec.aggregates.size());
  for (const AggregateSpec& aggregate : spec.aggregates) {
    out.String(aggregate.alias);
    PutEnum(&out, aggregate.function);
    out.String(aggregate.field);
  }
  out.Signed(spec.allowed_lateness_us);
  PutEnum(&out, spec.late_rule);
  PutEnum(&out, spec.session_late_check);
  out.Byte(spec.trigger.early_every_batch);
  out.Byte(spec.trigger.on_time);
  out.Byte(spec.trigger.late_each_change);
  PutEnum(&out, spec.late_event_policy);
  return bytes;
}

absl::Status DecodeDefinition(absl::string_view bytes,
                              ViewDefinition* definition) {
  Decoder in(bytes);
  *definition = ViewDefinition();
  GetCommon(&in, definition);
  ViewSpec& spec = definition->spec;
  GetEnum(&in, &spec.window.kind, WindowKind::kTumbling, WindowKind::kSession);
  spec.window.size_us = in.Signed();
  spec.window.period_us = in.Signed();
  spec.window.offset_us = in.Signed();
  spec.window.gap_us = in.Signed();
  GetEnum(&in, &spec.window.gap_rule, GapRule::kInclusive, GapRule::kExclusive);
  for (uint64_t n = in.Count(1); n > 0; --n) {
    spec.group_by.emplace_back(in.String());
  }
  for (uint64_t n = in.Count(3); n > 0; --n) {
    AggregateSpec aggregate;
    GetString(&in, &aggregate.alias);
    GetEnum(&in, &aggregate.function, Function::kCount,
            Function::kDistinctCount);
    if (aggregate.function > Function::kMean &&
        aggregate.function < Function::kDistinctCount) {
      in.Fail();
    }
    GetString(&in, &aggregate.field);
    spec.aggregates.push_back(std::move(aggregate));
  }
  spec.allowed_lateness_us = in.Signed();
  GetEnum(&in, &spec.late_rule, LateRule::kWindowClosed,
          LateRule::kBehindWatermark);
  GetEnum(&in, &spec.session_late_check, SessionLateCheck::kMerged,
          SessionLateCheck::kOwn);
  spec.trigger.early_every_batch = in.Enum(0, 1) != 0;
  spec.trigger.on_time = in.Enum(0, 1) != 0;
  spec.trigger.late_each_change = in.Enum(0, 1) != 0;
  GetEnum(&in, &spec.late_event_policy, LateEventPolicy::kCount,
          LateEventPolicy::kKeep);
  return Verdict(in, "a view's stored definition is damaged");
}

}  // namespace casement::engine
