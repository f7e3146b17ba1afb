#include "tests/crash/views.h"

#include "absl/strings/str_cat.h"
#include "tests/crash/input.h"
#include "tests/crash/times.h"

namespace casement::stress {
namespace {

void AddField(const char* name, v1::FieldType type, v1::Stream* stream) {
  v1::FieldSpec* field = stream->add_fields();
  field->set_name(name);
  field->set_type(type);
}

void AddAggregate(const char* alias, v1::AggregateSpec::Function function,
                  const char* field, v1::ViewSpec* spec) {
  v1::AggregateSpec* aggregate = spec->add_aggregates();
  aggregate->set_alias(alias);
  aggregate->set_function(function);
  aggregate->set_field(field);
}

}  // namespace

std::string ViewId(ViewKind kind) {
  switch (kind) {
    case ViewKind::kTumbling:
      return "tumbling";
    case ViewKind::kSliding:
      return "sliding";
    case ViewKind::kSessions:
      return "sessions";
  }
  return "";
}

std::string ViewName(ViewKind kind) {
  return absl::StrCat(kStream, "/views/", ViewId(kind));
}

v1::Stream OrdersStream() {
  v1::Stream stream;
  AddField("key", v1::FIELD_TYPE_STRING, &stream);
  AddField("amount", v1::FIELD_TYPE_INT64, &stream);
  AddField("price", v1::FIELD_TYPE_DOUBLE, &stream);
  v1::WatermarkPolicy* policy = stream.mutable_watermark_policy();
  *policy->mutable_bounded_delay()->mutable_max_delay() =
      ToDuration(kMaxDelayUs);
  policy->set_combine(v1::WatermarkPolicy::COMBINE_LEAST_OVER_PRODUCERS);
  for (const char* id : kProducerIds) policy->add_required_producers(id);
  policy->set_future_action(v1::WatermarkPolicy::FUTURE_ACTION_ACCEPT);
  return stream;
}

v1::View OrdersView(ViewKind kind) {
  v1::View view;
  v1::ViewSpec* spec = view.mutable_spec();
  switch (kind) {
    case ViewKind::kTumbling:
      *spec->mutable_window()->mutable_tumbling()->mutable_size() =
          ToDuration(kTumblingUs);
      break;
    case ViewKind::kSliding:
      *spec->mutable_window()->mutable_sliding()->mutable_size() =
          ToDuration(kSlidingUs);
      *spec->mutable_window()->mutable_sliding()->mutable_period() =
          ToDuration(kPeriodUs);
      break;
    case ViewKind::kSessions:
      *spec->mutable_window()->mutable_session()->mutable_gap() =
          ToDuration(kGapUs);
      spec->mutable_trigger()->mutable_early()->set_every_batch(true);
      break;
  }
  spec->add_group_by("key");
  AddAggregate("n", v1::AggregateSpec::FUNCTION_COUNT, "", spec);
  AddAggregate("amount", v1::AggregateSpec::FUNCTION_SUM, "amount", spec);
  AddAggregate("price", v1::AggregateSpec::FUNCTION_SUM, "price", spec);
  AddAggregate("least", v1::AggregateSpec::FUNCTION_MIN, "price", spec);
  AddAggregate("greatest", v1::AggregateSpec::FUNCTION_MAX, "amount", spec);
  AddAggregate("mean", v1::AggregateSpec::FUNCTION_MEAN, "amount", spec);
  AddAggregate("amounts", v1::AggregateSpec::FUNCTION_DISTINCT_COUNT, "amount",
               spec);
  return view;
}

}  // namespace casement::stress
