#include "server/rpc/stream_conversion.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "server/rpc/field_errors.h"
#include "server/rpc/names.h"
#include "server/rpc/resource_conversion.h"
#include "server/rpc/time_conversion.h"

namespace casement::rpc {
namespace {

using v1::WatermarkPolicy;

constexpr char kPolicy[] = "stream.watermark_policy";
constexpr char kUnknown[] = "is not a value that this server knows";

// Wire numbers and the engine's agree; a test holds them together.
engine::FieldType ToFieldType(const std::string& path, v1::FieldType type,
                              FieldErrors* errors) {
  switch (type) {
    case v1::FIELD_TYPE_INT64:
    case v1::FIELD_TYPE_DOUBLE:
    case v1::FIELD_TYPE_BOOL:
    case v1::FIELD_TYPE_STRING:
    case v1::FIELD_TYPE_BYTES:
      return static_cast<engine::FieldType>(type);
    case v1::FIELD_TYPE_UNSPECIFIED:
      errors->Invalid(path, "is required");
      break;
    default:
      errors->Invalid(path, kUnknown);
  }
  return engine::FieldType::kInt64;
}

void ToFields(const v1::Stream& stream, engine::StreamSpec* spec,
              FieldErrors* errors) {
  for (int i = 0; i < stream.fields_size(); ++i) {
    const v1::FieldSpec& proto = stream.fields(i);
    engine::FieldSpec field;
    field.name = proto.name();
    field.type = ToFieldType(absl::StrCat(At("stream.fields", i), ".type"),
                             proto.type(), errors);
    field.required = proto.required();
    spec->fields.push_back(std::move(field));
  }
}

void ToSource(const WatermarkPolicy& policy, engine::WatermarkSpec* watermark,
              FieldErrors* errors) {
  switch (policy.source_case()) {
    case WatermarkPolicy::kBoundedDelay: {
      const std::string path =
          absl::StrCat(kPolicy, ".bounded_delay.max_delay");
      watermark->source = engine::WatermarkSource::kBoundedDelay;
      if (!policy.bounded_delay().has_max_delay()) {
        errors->Invalid(path, "is required; it may be zero");
      } else {
        watermark->max_delay_us =
            errors->Duration(path, policy.bounded_delay().max_delay());
      }
      break;
    }
    case WatermarkPolicy::kAsserted:
      watermark->source = engine::WatermarkSource::kAsserted;
      break;
    case WatermarkPolicy::kArrival:
      watermark->source = engine::WatermarkSource::kAsserted;
      errors->NotBuilt(absl::StrCat(kPolicy, ".arrival"));
      break;
    case WatermarkPolicy::SOURCE_NOT_SET:
      errors->Invalid(absl::StrCat(kPolicy, ".source"),
                      "one of bounded_delay, asserted and arrival is required");
      break;
  }
}

void ToIdle(const WatermarkPolicy& policy, FieldErrors* errors) {
  if (policy.has_idle_timeout()) {
    const std::string path = absl::StrCat(kPolicy, ".idle_timeout");
    errors->DurationAtLeast(path, policy.idle_timeout(), 1);
    errors->NotBuilt(path);
  }
  const std::string path = absl::StrCat(kPolicy, ".idle_behavior");
  switch (policy.idle_behavior()) {
    case WatermarkPolicy::IDLE_BEHAVIOR_UNSPECIFIED:
    case WatermarkPolicy::IDLE_BEHAVIOR_HOLD:
      break;
    case WatermarkPolicy::IDLE_BEHAVIOR_FOLLOW_CLOCK:
      errors->NotBuilt(path);
      break;
    default:
      errors->Invalid(path, kUnknown);
  }
}

void ToFutureGuard(const WatermarkPolicy& policy,
                   engine::WatermarkSpec* watermark, FieldErrors* errors) {
  if (policy.has_max_future_skew()) {
    watermark->max_future_skew_us = errors->Duration(
        absl::StrCat(kPolicy, ".max_future_skew"), policy.max_future_skew());
  }
  switch (policy.future_action()) {
    case WatermarkPolicy::FUTURE_ACTION_UNSPECIFIED:
    case WatermarkPolicy::FUTURE_ACTION_HOLD:
      watermark->future_action = engine::FutureAction::kHold;
      break;
    case WatermarkPolicy::FUTURE_ACTION_REJECT:
      watermark->future_action = engine::FutureAction::kReject;
      break;
    case WatermarkPolicy::FUTURE_ACTION_ACCEPT:
      watermark->future_action = engine::FutureAction::kAccept;
      break;
    default:
      errors->Invalid(absl::StrCat(kPolicy, ".future_action"), kUnknown);
  }
}

void ToAdvanceAndScope(const WatermarkPolicy& policy,
                       engine::WatermarkSpec* watermark, FieldErrors* errors) {
  switch (policy.advance()) {
    case WatermarkPolicy::ADVANCE_UNSPECIFIED:
    case WatermarkPolicy::ADVANCE_AFTER_EACH_EVENT:
      watermark->advance = engine::Advance::kAfterEachEvent;
      break;
    case WatermarkPolicy::ADVANCE_AFTER_EACH_BATCH:
      watermark->advance = engine::Advance::kAfterEachBatch;
      break;
    default:
      errors->Invalid(absl::StrCat(kPolicy, ".advance"), kUnknown);
  }
  switch (policy.scope()) {
    case WatermarkPolicy::SCOPE_UNSPECIFIED:
    case WatermarkPolicy::SCOPE_STREAM:
      break;
    case WatermarkPolicy::SCOPE_KEY:
      errors->NotBuilt(absl::StrCat(kPolicy, ".scope"));
      break;
    default:
      errors->Invalid(absl::StrCat(kPolicy, ".scope"), kUnknown);
  }
  switch (policy.combine()) {
    case WatermarkPolicy::COMBINE_UNSPECIFIED:
    case WatermarkPolicy::COMBINE_LEAST_OVER_PRODUCERS:
      watermark->combine = engine::Combine::kLeastOverProducers;
      break;
    case WatermarkPolicy::COMBINE_GREATEST:
      watermark->combine = engine::Combine::kGreatest;
      break;
    default:
      errors->Invalid(absl::StrCat(kPolicy, ".combine"), kUnknown);
  }
}

void ToWatermark(const v1::Stream& stream, engine::WatermarkSpec* watermark,
                 FieldErrors* errors) {
  if (!stream.has_watermark_policy()) {
    errors->Invalid(kPolicy, "is required");
    return;
  }
  const WatermarkPolicy& policy = stream.watermark_policy();
  ToSource(policy, watermark, errors);
  ToIdle(policy, errors);
  ToFutureGuard(policy, watermark, errors);
  ToAdvanceAndScope(policy, watermark, errors);
  watermark->required_producers.assign(policy.required_producers().begin(),
                                       policy.required_producers().end());
}

void ToKeeping(const v1::Stream& stream, FieldErrors* errors) {
  // Zero keeps no events, which is what this server does.
  if (errors->DurationAtLeast("stream.raw_retention", stream.raw_retention(),
                              0) > 0) {
    errors->NotBuilt("stream.raw_retention");
  }
  if (stream.has_producer_retention()) {
    errors->DurationAtLeast("stream.producer_retention",
                            stream.producer_retention(), 1);
    errors->NotBuilt("stream.producer_retention");
  }
  if (stream.has_event_deduplication()) {
    const std::string path = "stream.event_deduplication.horizon";
    if (!stream.event_deduplication().has_horizon()) {
      errors->Invalid(path, "is required");
    } else {
      errors->DurationAtLeast(path, stream.event_deduplication().horizon(), 1);
    }
    errors->NotBuilt("stream.event_deduplication");
  }
}

void ToInvalidEventPolicy(const v1::Stream& stream, engine::StreamSpec* spec,
                          FieldErrors* errors) {
  switch (stream.invalid_event_policy()) {
    case v1::INVALID_EVENT_POLICY_UNSPECIFIED:
    case v1::INVALID_EVENT_POLICY_REJECT_EVENT:
      spec->invalid_event_policy = engine::InvalidEventPolicy::kRejectEvent;
      break;
    case v1::INVALID_EVENT_POLICY_REJECT_BATCH:
      spec->invalid_event_policy = engine::InvalidEventPolicy::kRejectBatch;
      break;
    default:
      errors->Invalid("stream.invalid_event_policy", kUnknown);
  }
}

void SetPolicy(const engine::WatermarkSpec& watermark,
               WatermarkPolicy* policy) {
  if (watermark.source == engine::WatermarkSource::kBoundedDelay) {
    *policy->mutable_bounded_delay()->mutable_max_delay() =
        ToDuration(watermark.max_delay_us);
  } else {
    policy->mutable_asserted();
  }
  policy->set_idle_behavior(WatermarkPolicy::IDLE_BEHAVIOR_HOLD);
  for (const std::string& producer : watermark.required_producers) {
    policy->add_required_producers(producer);
  }
  *policy->mutable_max_future_skew() = ToDuration(watermark.max_future_skew_us);
  policy->set_future_action(
      static_cast<WatermarkPolicy::FutureAction>(watermark.future_action));
  policy->set_advance(static_cast<WatermarkPolicy::Advance>(watermark.advance));
  policy->set_scope(WatermarkPolicy::SCOPE_STREAM);
  policy->set_combine(static_cast<WatermarkPolicy::Combine>(watermark.combine));
}

}  // namespace

absl::StatusOr<engine::StreamDefinition> ToStreamDefinition(
    const v1::CreateStreamRequest& request) {
  FieldErrors errors;
  engine::StreamDefinition definition;
  definition.id = request.stream_id();
  if (!engine::IsValidId(definition.id)) errors.Invalid("stream_id", kIdRule);
  if (!request.has_stream()) {
    errors.Invalid("stream", "is required");
    return errors.status();
  }
  const v1::Stream& stream = request.stream();
  definition.display_name = stream.display_name();
  CheckDisplayName("stream", stream.display_name(), &errors);
  definition.labels = ToLabels("stream", stream.labels(), &errors);
  ToFields(stream, &definition.spec, &errors);
  ToWatermark(stream, &definition.spec.watermark, &errors);
  ToKeeping(stream, &errors);
  ToInvalidEventPolicy(stream, &definition.spec, &errors);
  errors.Merge("stream.", engine::ValidateStream(definition.spec));
  if (absl::Status status = errors.status(); !status.ok()) return status;
  return definition;
}

void SetStream(const runtime::StreamInfo& info, v1::Stream* stream) {
  const engine::StreamDefinition& definition = info.definition;
  stream->set_name(StreamName(definition.id));
  stream->set_display_name(definition.display_name);
  stream->mutable_labels()->insert(definition.labels.begin(),
                                   definition.labels.end());
  for (const engine::FieldSpec& field : definition.spec.fields) {
    v1::FieldSpec* proto = stream->add_fields();
    proto->set_name(field.name);
    proto->set_type(static_cast<v1::FieldType>(field.type));
    proto->set_required(field.required);
  }
  SetPolicy(definition.spec.watermark, stream->mutable_watermark_policy());
  stream->mutable_raw_retention();
  stream->set_invalid_event_policy(static_cast<v1::InvalidEventPolicy>(
      definition.spec.invalid_event_policy));
  SetProgress(info.progress, stream->mutable_progress());
  *stream->mutable_create_time() = ToTimestamp(definition.create_time);
}

}  // namespace casement::rpc
