#include "tests/conformance/pipeline.h"

#include "absl/strings/str_cat.h"

namespace casement::conformance {
namespace {

WindowModel ParseWindow(const Json& json, const std::string& path,
                        Problems* problems) {
  JsonReader reader(json, path, problems);
  WindowModel window;
  window.kind = reader.Choice(
      "kind", "", {"fixed", "sliding", "session", "calendar", "global"});
  window.size = reader.Duration("size");
  window.slide = reader.Duration("slide");
  window.offset = reader.Duration("offset");
  window.gap = reader.Duration("gap");
  window.gap_rule =
      reader.Choice("gap_rule", "inclusive", {"inclusive", "exclusive"});
  window.unit = reader.String("unit", "");
  window.count = reader.OptionalInt("count");
  window.time_zone = reader.OptionalString("time_zone");
  window.week_start = reader.OptionalString("week_start");
  reader.Finish();
  return window;
}

void ParseWatermark(const Json& json, const std::string& path,
                    Problems* problems, Pipeline* pipeline) {
  JsonReader reader(json, path, problems);
  pipeline->delay = reader.Duration("delay");
  pipeline->advance =
      reader.Choice("advance", "per_event", {"per_event", "per_batch"});
  pipeline->scope = reader.Choice("scope", "global", {"global", "per_key"});
  if (reader.Has("sources")) pipeline->sources = reader.Strings("sources");
  if (const Json* future = reader.Find("future"); future != nullptr) {
    JsonReader guard(*future, reader.PathOf("future"), problems);
    pipeline->future.emplace();
    pipeline->future->limit = guard.Duration("limit");
    pipeline->future->action = guard.Choice("action", "", {"hold", "reject"});
    guard.Finish();
  }
  reader.Finish();
}

void ParseLateness(const Json& json, const std::string& path,
                   Problems* problems, Pipeline* pipeline) {
  JsonReader reader(json, path, problems);
  pipeline->late_rule = reader.Choice("rule", "behind_watermark",
                                      {"behind_watermark", "window_closed"});
  pipeline->allowed_lateness = reader.Duration("allowed");
  pipeline->session_check =
      reader.Choice("session_check", "merged", {"merged", "own"});
  reader.Finish();
}

Aggregate ParseAggregate(const Json& json, const std::string& path,
                         Problems* problems) {
  JsonReader reader(json, path, problems);
  Aggregate aggregate;
  aggregate.fn = reader.Choice(
      "fn", "",
      {"count", "sum", "avg", "min", "max", "distinct", "first", "last"});
  aggregate.field = reader.OptionalString("field");
  const std::string plain =
      aggregate.field.has_value()
          ? absl::StrCat(aggregate.fn, "_", *aggregate.field)
          : aggregate.fn;
  aggregate.name = reader.String("as", plain);
  reader.Finish();
  return aggregate;
}

std::map<std::string, std::string> ParseFields(const Json& json,
                                               const std::string& path,
                                               Problems* problems) {
  std::map<std::string, std::string> fields;
  JsonReader reader(json, path, problems);
  if (!json.is_object()) return fields;
  for (const auto& member : json.items()) {
    fields[member.key()] =
        reader.Choice(member.key().c_str(), "", {"int64", "double", "string"});
  }
  return fields;
}

const Json& OrEmptyObject(const Json* json) {
  static const Json* const kEmpty = new Json(Json::object());
  return json == nullptr ? *kEmpty : *json;
}

}  // namespace

std::string Pipeline::ValueType(const Aggregate& aggregate) const {
  if (aggregate.fn == "count" || aggregate.fn == "distinct") return "int64";
  if (aggregate.fn == "avg") return "double";
  if (!aggregate.field.has_value()) return "";
  auto field = fields.find(*aggregate.field);
  return field == fields.end() ? "" : field->second;
}

Pipeline ParsePipeline(const Json& json, const std::string& path,
                       Problems* problems) {
  JsonReader reader(json, path, problems);
  Pipeline pipeline;
  if (!reader.Has("window")) reader.Problem("window", "is missing");
  pipeline.window = ParseWindow(OrEmptyObject(reader.Find("window")),
                                reader.PathOf("window"), problems);
  pipeline.keyed = reader.Bool("keyed", false);
  pipeline.fields = ParseFields(OrEmptyObject(reader.Find("fields")),
                                reader.PathOf("fields"), problems);
  for (const Json* aggregate : reader.Objects("aggregates")) {
    pipeline.aggregates.push_back(
        ParseAggregate(*aggregate, reader.PathOf("aggregates"), problems));
  }
  ParseWatermark(OrEmptyObject(reader.Find("watermark")),
                 reader.PathOf("watermark"), problems, &pipeline);
  ParseLateness(OrEmptyObject(reader.Find("lateness")),
                reader.PathOf("lateness"), problems, &pipeline);
  pipeline.provisional =
      reader.Choice("provisional", "never", {"never", "on_change", "on_close"});
  pipeline.dedup =
      reader.Choice("dedup", "none", {"none", "event_id", "batch_seq"});
  pipeline.missing_key =
      reader.Choice("missing_key", "group", {"group", "reject"});
  pipeline.on_invalid = reader.Choice("on_invalid", "reject_event",
                                      {"reject_event", "reject_batch"});
  pipeline.emit_empty = reader.Bool("emit_empty", false);
  reader.Finish();
  return pipeline;
}

}  // namespace casement::conformance
