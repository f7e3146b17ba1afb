#include "tests/model/script.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tests/model/random.h"
#include "tests/model/values.h"

namespace casement::model {
namespace {

using engine::Column;
using engine::EventBatch;
using engine::FieldType;
using engine::ScalarValue;

void AppendNullSlot(FieldType type, Random* random, EventBatch* batch,
                    Column* column) {
  switch (type) {
    case FieldType::kInt64:
      column->int64s.push_back(random->Between(-3, 3));
      break;
    case FieldType::kBool:
      column->int64s.push_back(random->Between(0, 1));
      break;
    case FieldType::kDouble:
      column->doubles.push_back(random->Coin() ? 0.0 : 7.5);
      break;
    case FieldType::kString:
    case FieldType::kBytes:
      if (batch->symbols.size() == 0) batch->symbols.Add("");
      column->symbols.push_back(0);
      break;
  }
}

uint32_t Symbol(absl::string_view text, Random* random, EventBatch* batch) {
  // A search half of the time, so that some symbols are there twice.
  if (random->Coin()) {
    for (uint32_t i = 0; i < batch->symbols.size(); ++i) {
      if (batch->symbols[i] == text) return i;
    }
  }
  if (random->OneIn(8)) batch->symbols.Add("used by none");
  return batch->symbols.Add(text);
}

void AppendValue(FieldType type, const ScalarValue& value, Random* random,
                 EventBatch* batch, Column* column) {
  switch (type) {
    case FieldType::kInt64:
      column->int64s.push_back(std::get<int64_t>(value));
      break;
    case FieldType::kBool:
      column->int64s.push_back(std::get<bool>(value) ? 1 : 0);
      break;
    case FieldType::kDouble:
      column->doubles.push_back(std::get<double>(value));
      break;
    case FieldType::kString:
      column->symbols.push_back(
          Symbol(std::get<std::string>(value), random, batch));
      break;
    case FieldType::kBytes:
      column->symbols.push_back(
          Symbol(std::get<engine::Bytes>(value).value, random, batch));
      break;
  }
}

void FillColumn(FieldType type, const std::vector<ScriptEvent>& events,
                size_t field, Random* random, EventBatch* batch) {
  Column& column = batch->columns[field];
  bool any_null = false;
  bool all_null = true;
  for (const ScriptEvent& event : events) {
    if (event.bad.has_value()) continue;
    const bool null =
        std::holds_alternative<std::monostate>(event.values[field]);
    any_null = any_null || null;
    all_null = all_null && null;
  }
  if (all_null && random->Coin()) return;
  column.present = true;
  const bool with_nulls = any_null || random->Coin();
  for (const ScriptEvent& event : events) {
    if (event.bad.has_value()) continue;
    const ScalarValue& value = event.values[field];
    const bool null = std::holds_alternative<std::monostate>(value);
    if (with_nulls) column.nulls.push_back(null ? 1 : 0);
    if (null) {
      AppendNullSlot(type, random, batch, &column);
    } else {
      AppendValue(type, value, random, batch, &column);
    }
  }
}

std::string OptionalText(const std::optional<engine::TimeUs>& time) {
  return time.has_value() ? absl::StrCat(*time) : "-";
}

struct StepText {
  std::string operator()(const BatchStep& step) const {
    std::string text = absl::StrCat(
        "batch ", step.producer, " asserted=", OptionalText(step.asserted),
        " arrival=", OptionalText(step.arrival),
        " state=", static_cast<int>(step.state),
        " twist=", static_cast<int>(step.twist), " layout=", step.layout,
        step.position ? absl::StrCat(" position=", step.position->size()) : "");
    for (const ScriptEvent& event : step.events) {
      if (event.bad.has_value()) {
        absl::StrAppend(&text, "\n      bad ", static_cast<int>(*event.bad));
      } else {
        absl::StrAppend(&text, "\n      ", event.time, " ",
                        ToText(event.values));
      }
    }
    return text;
  }
  std::string operator()(const OpenStep& step) const {
    return absl::StrCat("open ", step.producer);
  }
  std::string operator()(const CreateViewStep& step) const {
    return absl::StrCat("create view ", step.definition.id, ": ",
                        ToText(step.definition.spec));
  }
  std::string operator()(const DeleteViewStep& step) const {
    return absl::StrCat("delete view ", step.id);
  }
  std::string operator()(const EndStep&) const { return "end of stream"; }
};

}  // namespace

EventBatch MakeEvents(const engine::StreamSpec& spec,
                      const std::vector<ScriptEvent>& events, uint64_t layout) {
  Random random(layout);
  EventBatch batch;
  batch.sent_count = static_cast<int32_t>(events.size());
  batch.columns.resize(spec.fields.size());
  bool any_bad = false;
  for (size_t i = 0; i < events.size(); ++i) {
    const ScriptEvent& event = events[i];
    if (event.bad.has_value()) {
      any_bad = true;
      batch.rejects.push_back({static_cast<int32_t>(i), *event.bad,
                               spec.fields.empty() ? "" : spec.fields[0].name,
                               "bad"});
    } else {
      batch.times.push_back(event.time);
    }
  }
  if (any_bad) {
    for (size_t i = 0; i < events.size(); ++i) {
      if (!events[i].bad.has_value()) {
        batch.sent_index.push_back(static_cast<int32_t>(i));
      }
    }
  }
  for (size_t f = 0; f < spec.fields.size(); ++f) {
    FillColumn(spec.fields[f].type, events, f, &random, &batch);
  }
  return batch;
}

std::string ToText(const engine::ViewSpec& spec) {
  const engine::WindowSpec& window = spec.window;
  std::string text;
  switch (window.kind) {
    case engine::WindowKind::kTumbling:
      text = absl::StrCat("tumbling ", window.size_us, " offset ",
                          window.offset_us);
      break;
    case engine::WindowKind::kSliding:
      text = absl::StrCat("sliding ", window.size_us, " every ",
                          window.period_us, " offset ", window.offset_us);
      break;
    case engine::WindowKind::kSession:
      text = absl::StrCat(
          "session gap ", window.gap_us,
          window.gap_rule == engine::GapRule::kInclusive ? " incl" : " excl",
          spec.session_late_check == engine::SessionLateCheck::kOwn
              ? " own"
              : " merged");
      break;
  }
  absl::StrAppend(
      &text, " by (", absl::StrJoin(spec.group_by, ","), ") lateness ",
      spec.allowed_lateness_us,
      spec.late_rule == engine::LateRule::kBehindWatermark ? " behind_watermark"
                                                           : " window_closed",
      spec.trigger.early_every_batch ? " early" : "",
      spec.trigger.on_time ? " on_time" : "",
      spec.trigger.late_each_change ? " late" : "",
      spec.late_event_policy == engine::LateEventPolicy::kKeep ? " keep" : "");
  for (const engine::AggregateSpec& aggregate : spec.aggregates) {
    absl::StrAppend(&text, " f", static_cast<int>(aggregate.function), "(",
                    aggregate.field, ")");
  }
  return text;
}

std::string ToText(const Script& script) {
  const engine::WatermarkSpec& watermark = script.spec.watermark;
  std::string text = "stream:";
  for (const engine::FieldSpec& field : script.spec.fields) {
    absl::StrAppend(&text, " ", field.name, ":", static_cast<int>(field.type));
  }
  absl::StrAppend(
      &text, "\n  watermark: ",
      watermark.source == engine::WatermarkSource::kAsserted
          ? "asserted"
          : absl::StrCat("delay ", watermark.max_delay_us),
      watermark.combine == engine::Combine::kGreatest ? " greatest" : " least",
      watermark.advance == engine::Advance::kAfterEachBatch ? " per batch"
                                                            : " per event",
      " future=", static_cast<int>(watermark.future_action), "/",
      watermark.max_future_skew_us, " required (",
      absl::StrJoin(watermark.required_producers, ","), ")",
      script.spec.invalid_event_policy ==
              engine::InvalidEventPolicy::kRejectBatch
          ? " reject_batch"
          : "",
      "\n");
  for (size_t i = 0; i < script.steps.size(); ++i) {
    absl::StrAppend(&text, "  ", i, ": ",
                    std::visit(StepText(), script.steps[i]), "\n");
  }
  return text;
}

}  // namespace casement::model
