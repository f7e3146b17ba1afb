#include "server/rpc/view_conversion.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "server/rpc/aggregate_conversion.h"
#include "server/rpc/field_errors.h"
#include "server/rpc/filter_conversion.h"
#include "server/rpc/names.h"
#include "server/rpc/resource_conversion.h"
#include "server/rpc/time_conversion.h"
#include "server/rpc/window_conversion.h"

namespace casement::rpc {
namespace {

using v1::ViewSpec;

constexpr char kUnknown[] = "is not a value that this server knows";

void CheckBootstrap(const v1::Bootstrap& bootstrap, FieldErrors* errors) {
  switch (bootstrap.start_case()) {
    case v1::Bootstrap::kPosition:
      if (!v1::Position_IsValid(bootstrap.position())) {
        errors->Invalid("bootstrap.position", kUnknown);
      } else if (bootstrap.position() == v1::POSITION_OLDEST) {
        errors->NotBuilt("bootstrap.position");
      }
      break;
    case v1::Bootstrap::kFromEventTime: {
      engine::TimeUs time = 0;
      const TimeFault fault = ToTimeUs(bootstrap.from_event_time(), &time);
      if (fault != TimeFault::kNone) {
        errors->Invalid("bootstrap.from_event_time", Describe(fault));
      }
      errors->NotBuilt("bootstrap.from_event_time");
      break;
    }
    case v1::Bootstrap::START_NOT_SET:
      break;
  }
}

void CheckRetention(const v1::ViewRetention& retention, FieldErrors* errors) {
  const auto check = [&](bool is_set, absl::string_view name,
                         const google::protobuf::Duration& duration) {
    if (!is_set) return;
    const std::string path = absl::StrCat("view.retention.", name);
    errors->DurationAtLeast(path, duration, 0);
    errors->NotBuilt(path);
  };
  check(retention.has_results(), "results", retention.results());
  check(retention.has_changes(), "changes", retention.changes());
  check(retention.has_late_events(), "late_events", retention.late_events());
}

void ToTrigger(const v1::TriggerSpec& trigger, engine::TriggerSpec* spec,
               FieldErrors* errors) {
  spec->early_every_batch = trigger.early().every_batch();
  if (trigger.early().has_every()) {
    const std::string path = "view.spec.trigger.early.every";
    errors->DurationAtLeast(path, trigger.early().every(), 1);
    errors->NotBuilt(path);
  }
  if (trigger.early().every_events() < 0) {
    errors->Invalid("view.spec.trigger.early.every_events",
                    "must not be negative");
  } else if (trigger.early().every_events() > 0) {
    errors->NotBuilt("view.spec.trigger.early.every_events");
  }
  spec->on_time = !trigger.no_on_time();
  spec->late_each_change = !trigger.late().none();
  const std::string late_every = "view.spec.trigger.late.every";
  if (errors->DurationAtLeast(late_every, trigger.late().every(), 0) > 0) {
    if (trigger.late().none()) {
      errors->Invalid(late_every, "has no effect beside none");
    }
    errors->NotBuilt(late_every);
  }
}

void ToLateness(const ViewSpec& view, engine::ViewSpec* spec,
                FieldErrors* errors) {
  spec->allowed_lateness_us =
      errors->Duration("view.spec.allowed_lateness", view.allowed_lateness());
  switch (view.late_rule()) {
    case ViewSpec::LATE_RULE_UNSPECIFIED:
    case ViewSpec::LATE_RULE_WINDOW_CLOSED:
      spec->late_rule = engine::LateRule::kWindowClosed;
      break;
    case ViewSpec::LATE_RULE_BEHIND_WATERMARK:
      spec->late_rule = engine::LateRule::kBehindWatermark;
      break;
    default:
      errors->Invalid("view.spec.late_rule", kUnknown);
  }
  switch (view.session_late_check()) {
    case ViewSpec::SESSION_LATE_CHECK_UNSPECIFIED:
    case ViewSpec::SESSION_LATE_CHECK_MERGED:
      spec->session_late_check = engine::SessionLateCheck::kMerged;
      break;
    case ViewSpec::SESSION_LATE_CHECK_OWN:
      spec->session_late_check = engine::SessionLateCheck::kOwn;
      break;
    default:
      errors->Invalid("view.spec.session_late_check", kUnknown);
  }
  switch (view.late_event_policy()) {
    case ViewSpec::LATE_EVENT_POLICY_UNSPECIFIED:
    case ViewSpec::LATE_EVENT_POLICY_KEEP:
      spec->late_event_policy = engine::LateEventPolicy::kKeep;
      break;
    case ViewSpec::LATE_EVENT_POLICY_COUNT:
      spec->late_event_policy = engine::LateEventPolicy::kCount;
      break;
    default:
      errors->Invalid("view.spec.late_event_policy", kUnknown);
  }
}

void CheckAccumulation(const ViewSpec& view, FieldErrors* errors) {
  const std::string path = "view.spec.accumulation_mode";
  switch (view.accumulation_mode()) {
    case v1::ACCUMULATION_MODE_UNSPECIFIED:
    case v1::ACCUMULATION_MODE_ACCUMULATING:
      break;
    case v1::ACCUMULATION_MODE_DISCARDING:
      if (view.window().has_session()) {
        errors->Invalid(path, "DISCARDING is not possible with sessions");
      }
      errors->NotBuilt(path);
      break;
    case v1::ACCUMULATION_MODE_ACCUMULATING_AND_RETRACTING:
      errors->NotBuilt(path);
      break;
    default:
      errors->Invalid(path, kUnknown);
  }
}

void CheckEmitEmpty(const ViewSpec& view, FieldErrors* errors) {
  if (!view.has_emit_empty()) return;
  if (!view.window().has_tumbling() && !view.window().has_calendar()) {
    errors->Invalid("view.spec.emit_empty",
                    "is possible with tumbling and calendar windows only");
  }
  if (view.emit_empty().max_windows() < 0) {
    errors->Invalid("view.spec.emit_empty.max_windows", "must not be negative");
  }
  errors->NotBuilt("view.spec.emit_empty");
}

engine::ViewSpec ToViewSpec(const ViewSpec& view,
                            const engine::StreamSpec& stream,
                            FieldErrors* errors) {
  engine::ViewSpec spec;
  spec.window = ToWindowSpec(view.window(), errors);
  spec.group_by.assign(view.group_by().begin(), view.group_by().end());
  for (int i = 0; i < view.aggregates_size(); ++i) {
    spec.aggregates.push_back(ToAggregateSpec(
        At("view.spec.aggregates", i), view.aggregates(i), stream, errors));
  }
  CheckFilter("view.spec.filter", view.filter(), stream, errors);
  ToLateness(view, &spec, errors);
  ToTrigger(view.trigger(), &spec.trigger, errors);
  CheckAccumulation(view, errors);
  CheckEmitEmpty(view, errors);
  return spec;
}

void SetViewSpec(const engine::ViewSpec& spec, ViewSpec* view) {
  SetWindowSpec(spec.window, view->mutable_window());
  for (const std::string& field : spec.group_by) view->add_group_by(field);
  for (const engine::AggregateSpec& aggregate : spec.aggregates) {
    SetAggregateSpec(aggregate, view->add_aggregates());
  }
  *view->mutable_allowed_lateness() = ToDuration(spec.allowed_lateness_us);
  view->set_late_rule(static_cast<ViewSpec::LateRule>(spec.late_rule));
  view->set_session_late_check(
      static_cast<ViewSpec::SessionLateCheck>(spec.session_late_check));
  v1::TriggerSpec* trigger = view->mutable_trigger();
  trigger->mutable_early()->set_every_batch(spec.trigger.early_every_batch);
  trigger->set_no_on_time(!spec.trigger.on_time);
  trigger->mutable_late()->set_none(!spec.trigger.late_each_change);
  view->set_accumulation_mode(v1::ACCUMULATION_MODE_ACCUMULATING);
  view->set_late_event_policy(
      static_cast<ViewSpec::LateEventPolicy>(spec.late_event_policy));
}

}  // namespace

absl::StatusOr<engine::ViewDefinition> ToViewDefinition(
    const v1::CreateViewRequest& request, const engine::StreamSpec& stream) {
  FieldErrors errors;
  engine::ViewDefinition definition;
  definition.id = request.view_id();
  if (!engine::IsValidId(definition.id)) errors.Invalid("view_id", kIdRule);
  CheckBootstrap(request.bootstrap(), &errors);
  const v1::View& view = request.view();
  if (!request.has_view() || !view.has_spec()) {
    errors.Invalid(request.has_view() ? "view.spec" : "view", "is required");
    return errors.status();
  }
  definition.display_name = view.display_name();
  CheckDisplayName("view", view.display_name(), &errors);
  definition.labels = ToLabels("view", view.labels(), &errors);
  CheckRetention(view.retention(), &errors);
  definition.spec = ToViewSpec(view.spec(), stream, &errors);
  errors.Merge("view.", engine::ValidateView(definition.spec, stream));
  if (absl::Status status = errors.status(); !status.ok()) return status;
  return definition;
}

void SetView(absl::string_view stream, const runtime::ViewInfo& info,
             v1::View* view) {
  const engine::ViewDefinition& definition = info.definition;
  view->set_name(ViewName(stream, definition.id));
  view->set_display_name(definition.display_name);
  view->mutable_labels()->insert(definition.labels.begin(),
                                 definition.labels.end());
  SetViewSpec(definition.spec, view->mutable_spec());
  view->set_active_revision(kRevision);
  SetProgress(info.progress, definition.spec.allowed_lateness_us,
              view->mutable_progress());
  *view->mutable_create_time() = ToTimestamp(definition.create_time);
}

}  // namespace casement::rpc
