#include "tests/conformance/case.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/conformance/values.h"

namespace casement::conformance {
namespace {

MaybeKey ParseKey(JsonReader* reader, bool keyed) {
  const Json* key = reader->Find("key");
  if (key == nullptr || key->is_null()) {
    if (keyed && key == nullptr) reader->Problem("key", "is missing");
    return std::nullopt;
  }
  if (!key->is_string()) {
    reader->Problem("key", "is not a string");
    return std::nullopt;
  }
  if (!keyed) reader->Problem("key", "is given though there are no keys");
  return key->get<std::string>();
}

WindowRow ParseRow(const Json& json, const std::string& path,
                   const Pipeline& pipeline, Problems* problems) {
  JsonReader reader(json, path, problems);
  WindowRow row;
  row.key = ParseKey(&reader, pipeline.keyed);
  row.start = reader.NeededTime("start");
  if (pipeline.is_session()) {
    row.last = reader.NeededTime("last");
  } else {
    row.end = reader.NeededTime("end");
  }
  const Json* values = reader.Find("agg");
  if (values == nullptr) {
    reader.Problem("agg", "is missing");
    return row;
  }
  JsonReader aggregates(*values, reader.PathOf("agg"), problems);
  for (const Aggregate& aggregate : pipeline.aggregates) {
    const Json* value = aggregates.Find(aggregate.name.c_str());
    if (value == nullptr) {
      aggregates.Problem(aggregate.name, "is missing");
      continue;
    }
    absl::StatusOr<AggValue> parsed =
        ParseExpectedValue(*value, pipeline.ValueType(aggregate));
    if (!parsed.ok()) {
      aggregates.Problem(aggregate.name,
                         std::string(parsed.status().message()));
      continue;
    }
    row.values.push_back(*parsed);
  }
  aggregates.Finish();
  reader.Finish();
  return row;
}

std::vector<WindowRow> ParseRows(JsonReader* reader, const char* name,
                                 const Pipeline& pipeline, Problems* problems) {
  std::vector<WindowRow> rows;
  for (const Json* row : reader->Objects(name)) {
    rows.push_back(ParseRow(*row, reader->PathOf(name), pipeline, problems));
  }
  return rows;
}

std::optional<Watermark> ParseWatermark(JsonReader* reader,
                                        const Pipeline& pipeline) {
  if (!reader->Has("watermark")) return std::nullopt;
  // With a watermark for each key there is an object of them here, but the API
  // tells no such watermarks: the results alone are compared.
  if (pipeline.scope == "per_key") {
    reader->Find("watermark");
    return std::nullopt;
  }
  return reader->OptionalTime("watermark");
}

StepOutcome ParseExpect(const Json& json, const std::string& path,
                        const Pipeline& pipeline, Problems* problems) {
  JsonReader reader(json, path, problems);
  StepOutcome outcome;
  outcome.finals = ParseRows(&reader, "finals", pipeline, problems);
  outcome.updates = ParseRows(&reader, "updates", pipeline, problems);
  for (const Json* retract : reader.Objects("retracts")) {
    JsonReader entry(*retract, reader.PathOf("retracts"), problems);
    KeyAndStart gone;
    gone.key = ParseKey(&entry, pipeline.keyed);
    gone.start = entry.NeededTime("start");
    entry.Finish();
    outcome.retracts.push_back(gone);
  }
  outcome.late = reader.Strings("late");
  for (const Json* place : reader.Objects("late_windows")) {
    JsonReader entry(*place, reader.PathOf("late_windows"), problems);
    LatePlace late;
    late.id = entry.NeededString("id");
    late.start = entry.NeededTime("start");
    late.end = entry.NeededTime("end");
    entry.Finish();
    outcome.late_windows.push_back(late);
  }
  outcome.unassigned = reader.Strings("unassigned");
  for (const Json* rejected : reader.Objects("rejected")) {
    JsonReader entry(*rejected, reader.PathOf("rejected"), problems);
    outcome.rejected.push_back(
        {entry.NeededString("id"), entry.NeededString("reason")});
    entry.Finish();
  }
  outcome.duplicates = reader.Strings("duplicates");
  outcome.watermark = ParseWatermark(&reader, pipeline);
  reader.Finish();
  return outcome;
}

Event ParseEvent(const Json& json, const std::string& path,
                 Problems* problems) {
  JsonReader reader(json, path, problems);
  Event event;
  event.id = reader.NeededString("id");
  event.time = reader.OptionalTime("time");
  if (event.time == kPlusInfinity || event.time == kMinusInfinity) {
    reader.Problem("time", "is no time of an event");
  }
  if (const Json* key = reader.Find("key"); key != nullptr) event.key = *key;
  const Json* fields = reader.Find("fields");
  if (fields != nullptr && fields->is_object()) {
    for (const auto& member : fields->items()) {
      event.fields[member.key()] = member.value();
    }
  } else if (fields != nullptr && !fields->is_null()) {
    reader.Problem("fields", "is not an object");
  }
  event.source = reader.OptionalString("source");
  reader.Finish();
  return event;
}

Step ParseStep(const Json& json, const std::string& path,
               const Pipeline& pipeline, Problems* problems) {
  JsonReader reader(json, path, problems);
  Step step;
  step.op = reader.Choice("op", "",
                          {"ingest", "advance_watermark", "mark_idle",
                           "set_clock", "restart", "crash", "end_of_stream"});
  for (const Json* event : reader.Objects("events")) {
    step.events.push_back(
        ParseEvent(*event, reader.PathOf("events"), problems));
  }
  step.source = reader.OptionalString("source");
  step.producer = reader.OptionalString("producer");
  const Json* seq = reader.Find("seq");
  if (seq != nullptr && !seq->is_null()) step.seq = seq->dump();
  step.to = reader.OptionalTime("to");
  if (step.op == "advance_watermark" &&
      (!step.to.has_value() || *step.to == kPlusInfinity ||
       *step.to == kMinusInfinity)) {
    reader.Problem("to", "is no time to advance to");
  }
  if (step.op == "mark_idle" && !step.source.has_value()) {
    reader.Problem("source", "is missing");
  }
  static const Json* const kNothing = new Json(Json::object());
  const Json* expect = reader.Find("expect");
  step.expect = ParseExpect(expect == nullptr ? *kNothing : *expect,
                            reader.PathOf("expect"), pipeline, problems);
  reader.Finish();
  return step;
}

void ParseRun(JsonReader* reader, Problems* problems, Case* result) {
  const Json* pipeline = reader->Find("pipeline");
  if (pipeline == nullptr) {
    reader->Problem("pipeline", "is missing");
    return;
  }
  result->pipeline = ParsePipeline(*pipeline, "pipeline", problems);
  int number = 0;
  for (const Json* step : reader->Objects("steps")) {
    result->steps.push_back(ParseStep(*step,
                                      absl::StrCat("steps[", number++, "]"),
                                      result->pipeline, problems));
  }
  if (result->steps.empty()) reader->Problem("steps", "is missing or empty");
  const Json* end = reader->Find("end");
  if (end == nullptr) {
    reader->Problem("end", "is missing");
    return;
  }
  JsonReader end_reader(*end, "end", problems);
  result->end.open = ParseRows(&end_reader, "open", result->pipeline, problems);
  result->end.watermark = ParseWatermark(&end_reader, result->pipeline);
  result->end.accepted = end_reader.OptionalInt("accepted");
  result->end.late = end_reader.OptionalInt("late");
  end_reader.Finish();
}

void ParseSpecs(JsonReader* reader, Problems* problems, Case* result) {
  for (const Json* json : reader->Objects("specs")) {
    JsonReader entry(*json, "specs", problems);
    Spec spec;
    spec.label = entry.NeededString("label");
    spec.valid = entry.Choice("expect", "", {"valid", "invalid"}) == "valid";
    const Json* pipeline = entry.Find("pipeline");
    // Words that mean nothing are what these are about: no problem here.
    Problems meant;
    spec.pipeline = ParsePipeline(
        pipeline == nullptr ? Json::object() : *pipeline, "", &meant);
    entry.Finish();
    result->specs.push_back(spec);
  }
  if (result->specs.empty()) reader->Problem("specs", "is missing or empty");
}

}  // namespace

absl::StatusOr<Case> ParseCase(absl::string_view text,
                               absl::string_view otherwise_named) {
  const Json json = Json::parse(text.begin(), text.end(), nullptr,
                                /*allow_exceptions=*/false);
  if (json.is_discarded()) return absl::InvalidArgumentError("not JSON");
  Problems problems;
  JsonReader reader(json, "", &problems);
  if (!json.is_object()) return absl::InvalidArgumentError("not an object");
  Case result;
  result.name = reader.String("name", std::string(otherwise_named));
  result.needs = reader.Strings("needs");
  if (const Json* json_tolerance = reader.Find("double_tolerance");
      json_tolerance != nullptr) {
    JsonReader tolerance(*json_tolerance, "double_tolerance", &problems);
    result.tolerance = Tolerance{tolerance.OptionalDouble("rel").value_or(0),
                                 tolerance.OptionalDouble("abs").value_or(0)};
    tolerance.Finish();
  }
  const std::string kind = reader.Choice("kind", "", {"run", "spec"});
  if (kind == "run") {
    ParseRun(&reader, &problems, &result);
  } else if (kind == "spec") {
    result.kind = Case::Kind::kSpec;
    ParseSpecs(&reader, &problems, &result);
  }
  // Members of the case itself that are not known are words to its reader.
  if (problems.empty()) return result;
  return absl::InvalidArgumentError(absl::StrJoin(problems, "; "));
}

}  // namespace casement::conformance
