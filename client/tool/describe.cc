#include "client/tool/describe.h"

#include <google/protobuf/util/json_util.h>

#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "client/tool/durations.h"
#include "client/tool/field_parser.h"
#include "client/tool/table.h"
#include "client/tool/values.h"

namespace casement::tool {
namespace {

// "ADVANCE_AFTER_EACH_EVENT" -> "after each event"; unset: the default, which
// the server knows.
std::string Words(const std::string& name, absl::string_view prefix) {
  std::string text = absl::AsciiStrToLower(absl::StripPrefix(name, prefix));
  if (text == "unspecified") return "default";
  for (char& c : text) {
    if (c == '_') c = ' ';
  }
  return text;
}

class Lines {
 public:
  void Add(absl::string_view name, absl::string_view text) {
    absl::StrAppendFormat(&text_, "%-18s %s\n", name, text);
  }
  void Add(absl::string_view name, int64_t number) {
    Add(name, absl::StrCat(number));
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

// The counts that a stream or a view has, by name, in the order of the sums
// that they make.
std::vector<std::pair<const char*, int64_t>> Counts(const v1::Stats& stats,
                                                    bool view) {
  if (!view) {
    return {{"received", stats.received_events()},
            {"accepted", stats.accepted_events()},
            {"rejected", stats.rejected_events()},
            {"duplicate", stats.duplicate_events()},
            {"late", stats.late_events()},
            {"duplicate_batches", stats.duplicate_batches()}};
  }
  return {{"accepted", stats.accepted_events()},
          {"counted", stats.counted_events()},
          {"late", stats.late_events()},
          {"unassigned", stats.unassigned_events()},
          {"filtered", stats.filtered_events()},
          {"late_places", stats.late_places()},
          {"provisional_results", stats.provisional_results()},
          {"final_results", stats.final_results()},
          {"corrected_results", stats.corrected_results()},
          {"retracted_results", stats.retracted_results()},
          {"live_keys", stats.live_keys()}};
}

void AddProgress(const v1::Progress& progress, Lines* lines) {
  lines->Add("watermark", WatermarkText(progress));
  if (progress.has_final_time()) {
    lines->Add("final before", FormatTime(progress.final_time()));
  }
  lines->Add("version", progress.version());
}

void AddCounts(const v1::Stats& stats, bool view, Lines* lines) {
  for (const auto& [name, count] : Counts(stats, view)) {
    lines->Add(Words(name, ""), count);
  }
}

std::string WatermarkPolicyText(const v1::WatermarkPolicy& policy) {
  using Policy = v1::WatermarkPolicy;
  std::string text = "arrival time";
  if (policy.has_bounded_delay()) {
    text = absl::StrCat("events come at most ",
                        FormatDuration(policy.bounded_delay().max_delay()),
                        " late");
  } else if (policy.has_asserted()) {
    text = "asserted by producers";
  }
  if (policy.combine() == Policy::COMBINE_GREATEST) {
    text += "; greatest of the producers";
  }
  if (!policy.required_producers().empty()) {
    absl::StrAppend(&text, "; waits for ",
                    absl::StrJoin(policy.required_producers(), ", "));
  }
  if (policy.has_idle_timeout()) {
    absl::StrAppend(&text, "; idle after ",
                    FormatDuration(policy.idle_timeout()));
  }
  if (policy.advance() == Policy::ADVANCE_AFTER_EACH_BATCH) {
    text += "; moves after each batch";
  }
  return text;
}

std::string FutureText(const v1::WatermarkPolicy& policy) {
  std::string text =
      Words(v1::WatermarkPolicy::FutureAction_Name(policy.future_action()),
            "FUTURE_ACTION_");
  if (policy.has_max_future_skew()) {
    absl::StrAppend(&text, " events more than ",
                    FormatDuration(policy.max_future_skew()),
                    " ahead of the clock");
  }
  return text;
}

std::string AggregateText(const v1::AggregateSpec& aggregate) {
  return absl::StrCat(
      aggregate.alias(), " = ",
      Words(v1::AggregateSpec::Function_Name(aggregate.function()),
            "FUNCTION_"),
      "(", aggregate.field(), ")");
}

std::string TriggerText(const v1::TriggerSpec& trigger) {
  std::vector<std::string> parts;
  const v1::TriggerSpec::Early& early = trigger.early();
  if (early.every_batch()) parts.push_back("early: every batch");
  if (early.has_every()) {
    parts.push_back(
        absl::StrCat("early: every ", FormatDuration(early.every())));
  }
  if (early.every_events() > 0) {
    parts.push_back(
        absl::StrCat("early: every ", early.every_events(), " events"));
  }
  if (trigger.no_on_time()) parts.push_back("none on time");
  if (trigger.late().none()) parts.push_back("none late");
  if (trigger.late().has_every()) {
    parts.push_back(
        absl::StrCat("late: every ", FormatDuration(trigger.late().every())));
  }
  if (parts.empty()) return "default";
  return absl::StrJoin(parts, "; ");
}

absl::StatusOr<std::string> ProtoJson(const google::protobuf::Message& proto) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto status =
      google::protobuf::util::MessageToJsonString(proto, &json, options);
  if (status.ok()) return json;
  return absl::InternalError(
      std::string(status.message().data(), status.message().size()));
}

// By hand, as rows are: a watermark may lie before the year 1.
std::string ProgressJson(const v1::Progress& progress) {
  return absl::StrCat(
      "{\"watermark_time\":",
      JsonTime(progress.has_watermark_time(), progress.watermark_time()),
      ",\"final_time\":",
      JsonTime(progress.has_final_time(), progress.final_time()),
      ",\"version\":", progress.version(),
      ",\"ended\":", progress.ended() ? "true" : "false", "}");
}

absl::StatusOr<std::string> Json(const google::protobuf::Message& definition,
                                 const v1::Stats& stats, bool view) {
  absl::StatusOr<std::string> json = ProtoJson(definition);
  if (!json.ok()) return json;
  return absl::StrCat("{\"definition\":", *json,
                      ",\"progress\":", ProgressJson(stats.progress()),
                      ",\"accounts\":{",
                      absl::StrJoin(Counts(stats, view), ",",
                                    [](std::string* out, const auto& count) {
                                      absl::StrAppend(out, "\"", count.first,
                                                      "\":", count.second);
                                    }),
                      "}}\n");
}

}  // namespace

std::string WindowText(const v1::WindowSpec& window) {
  const auto offset = [](bool present, const auto& duration) {
    const bool zero = duration.seconds() == 0 && duration.nanos() == 0;
    return present && !zero
               ? absl::StrCat(", offset ", FormatDuration(duration))
               : "";
  };
  if (window.has_tumbling()) {
    const auto& w = window.tumbling();
    return absl::StrCat("tumbling, size ", FormatDuration(w.size()),
                        offset(w.has_offset(), w.offset()));
  }
  if (window.has_sliding()) {
    const auto& w = window.sliding();
    return absl::StrCat("sliding, size ", FormatDuration(w.size()), ", every ",
                        FormatDuration(w.period()),
                        offset(w.has_offset(), w.offset()));
  }
  if (window.has_session()) {
    const auto& w = window.session();
    const bool exclusive =
        w.gap_rule() == v1::WindowSpec::Session::GAP_RULE_EXCLUSIVE;
    const std::string cap =
        w.has_boundary_period()
            ? absl::StrCat(", cut every ", FormatDuration(w.boundary_period()))
            : "";
    return absl::StrCat("session, gap ", FormatDuration(w.gap()),
                        exclusive ? " (exclusive)" : "", cap);
  }
  return window.ShortDebugString();
}

std::string DescribeStream(const v1::Stream& stream, const v1::Stats& stats) {
  Lines lines;
  lines.Add("stream", stream.name());
  if (!stream.display_name().empty()) {
    lines.Add("display name", stream.display_name());
  }
  if (stream.has_create_time()) {
    lines.Add("created", FormatTime(stream.create_time()));
  }
  for (const v1::FieldSpec& field : stream.fields()) {
    lines.Add("field", absl::StrCat(field.name(), ": ", TypeName(field.type()),
                                    field.required() ? ", required" : ""));
  }
  lines.Add("watermark policy", WatermarkPolicyText(stream.watermark_policy()));
  lines.Add("future events", FutureText(stream.watermark_policy()));
  lines.Add("invalid events",
            Words(v1::InvalidEventPolicy_Name(stream.invalid_event_policy()),
                  "INVALID_EVENT_POLICY_"));
  AddProgress(stats.progress(), &lines);
  AddCounts(stats, false, &lines);
  return lines.Take();
}

std::string DescribeView(const v1::View& view, const v1::Stats& stats) {
  const v1::ViewSpec& spec = view.spec();
  Lines lines;
  lines.Add("view", view.name());
  lines.Add("revision", view.active_revision());
  if (view.has_create_time()) {
    lines.Add("created", FormatTime(view.create_time()));
  }
  lines.Add("window", WindowText(spec.window()));
  lines.Add("group by", spec.group_by().empty()
                            ? "nothing: one key"
                            : absl::StrJoin(spec.group_by(), ", "));
  for (const v1::AggregateSpec& aggregate : spec.aggregates()) {
    lines.Add("aggregate", AggregateText(aggregate));
  }
  lines.Add("allowed lateness", FormatDuration(spec.allowed_lateness()));
  lines.Add("late rule",
            Words(v1::ViewSpec::LateRule_Name(spec.late_rule()), "LATE_RULE_"));
  if (spec.window().has_session()) {
    lines.Add(
        "late check",
        Words(v1::ViewSpec::SessionLateCheck_Name(spec.session_late_check()),
              "SESSION_LATE_CHECK_"));
  }
  lines.Add("provisional", TriggerText(spec.trigger()));
  AddProgress(stats.progress(), &lines);
  AddCounts(stats, true, &lines);
  return lines.Take();
}

absl::StatusOr<std::string> StreamJson(v1::Stream stream,
                                       const v1::Stats& stats) {
  stream.clear_progress();
  return Json(stream, stats, false);
}

absl::StatusOr<std::string> ViewJson(v1::View view, const v1::Stats& stats) {
  view.clear_progress();
  return Json(view, stats, true);
}

}  // namespace casement::tool
