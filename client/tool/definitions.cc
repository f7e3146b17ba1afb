#include "client/tool/definitions.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/tool/durations.h"

namespace casement::tool {
namespace {

namespace pb = ::google::protobuf;

absl::Status Bad(absl::string_view flag, absl::string_view text,
                 absl::string_view want) {
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " \"", text, "\": write ", want));
}

// The value of an enum whose names are PREFIX_WORD, by its word in any case.
// Zero if there is none: the unspecified value has no word.
int EnumByWord(const pb::EnumDescriptor* descriptor, absl::string_view prefix,
               absl::string_view word) {
  const pb::EnumValueDescriptor* value = descriptor->FindValueByName(
      absl::StrCat(prefix, absl::AsciiStrToUpper(word)));
  return value == nullptr ? 0 : value->number();
}

// Sets an enum from a flag, if the flag was given. CLI11 has checked the word.
template <typename Enum, typename Setter>
void SetEnum(const std::string& word, const pb::EnumDescriptor* descriptor,
             absl::string_view prefix, Setter set) {
  if (word.empty()) return;
  set(static_cast<Enum>(EnumByWord(descriptor, prefix, word)));
}

absl::Status SetDuration(const std::string& text, pb::Duration* duration) {
  absl::StatusOr<pb::Duration> parsed = ParseDuration(text);
  if (!parsed.ok()) return parsed.status();
  *duration = *parsed;
  return absl::OkStatus();
}

class FirstError : public pb::io::ErrorCollector {
 public:
  void AddError(int line, pb::io::ColumnNumber column,
                const std::string& message) override {
    if (text_.empty()) {
      text_ = absl::StrCat(line + 1, ":", column + 1, ": ", message);
    }
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// "1d+6h" -> "1d" and "6h"; "1d-6h" -> "1d" and "-6h".
std::pair<std::string, std::string> SplitOffset(absl::string_view text) {
  const size_t at = text.find_first_of("+-", 1);
  if (at == absl::string_view::npos) return {std::string(text), ""};
  absl::string_view offset = text.substr(at);
  if (offset[0] == '+') offset.remove_prefix(1);
  return {std::string(text.substr(0, at)), std::string(offset)};
}

constexpr char kWindowForms[] =
    "tumbling:SIZE[+OFFSET], sliding:SIZE/PERIOD[+OFFSET] or "
    "session:GAP[/BOUNDARY[+OFFSET]]; other kinds need --file";

absl::Status ParseTumbling(absl::string_view text,
                           v1::WindowSpec::Tumbling* out) {
  const auto [size, offset] = SplitOffset(text);
  absl::Status status = SetDuration(size, out->mutable_size());
  if (status.ok() && !offset.empty()) {
    status = SetDuration(offset, out->mutable_offset());
  }
  return status;
}

absl::Status ParseSliding(absl::string_view text,
                          v1::WindowSpec::Sliding* out) {
  const std::vector<std::string> parts = absl::StrSplit(text, '/');
  if (parts.size() != 2) return Bad("--window", text, "sliding:SIZE/PERIOD");
  const auto [period, offset] = SplitOffset(parts[1]);
  absl::Status status = SetDuration(parts[0], out->mutable_size());
  if (status.ok()) status = SetDuration(period, out->mutable_period());
  if (status.ok() && !offset.empty()) {
    status = SetDuration(offset, out->mutable_offset());
  }
  return status;
}

absl::Status ParseSession(absl::string_view text,
                          v1::WindowSpec::Session* out) {
  const std::vector<std::string> parts = absl::StrSplit(text, '/');
  if (parts.size() > 2) return Bad("--window", text, "session:GAP[/BOUNDARY]");
  absl::Status status = SetDuration(parts[0], out->mutable_gap());
  if (!status.ok() || parts.size() == 1) return status;
  const auto [period, offset] = SplitOffset(parts[1]);
  status = SetDuration(period, out->mutable_boundary_period());
  if (status.ok() && !offset.empty()) {
    status = SetDuration(offset, out->mutable_boundary_offset());
  }
  return status;
}

absl::Status ApplyWatermark(const StreamCreateOptions& options,
                            v1::Stream* stream) {
  using Policy = v1::WatermarkPolicy;
  // Touched only where a flag speaks: unset and empty are two things.
  const auto policy = [stream] { return stream->mutable_watermark_policy(); };
  if (!options.delay.empty() && options.asserted) {
    return absl::InvalidArgumentError(
        "--delay and --asserted exclude each "
        "other");
  }
  if (options.asserted) policy()->mutable_asserted();
  absl::Status status;
  if (!options.delay.empty()) {
    status = SetDuration(
        options.delay, policy()->mutable_bounded_delay()->mutable_max_delay());
  }
  if (status.ok() && !options.idle_timeout.empty()) {
    status =
        SetDuration(options.idle_timeout, policy()->mutable_idle_timeout());
  }
  if (status.ok() && !options.max_future_skew.empty()) {
    status = SetDuration(options.max_future_skew,
                         policy()->mutable_max_future_skew());
  }
  for (const std::string& producer : options.required_producers) {
    policy()->add_required_producers(producer);
  }
  if (options.combine == "least") {
    policy()->set_combine(Policy::COMBINE_LEAST_OVER_PRODUCERS);
  } else if (options.combine == "greatest") {
    policy()->set_combine(Policy::COMBINE_GREATEST);
  }
  SetEnum<Policy::FutureAction>(
      options.future, Policy::FutureAction_descriptor(), "FUTURE_ACTION_",
      [&](auto value) { policy()->set_future_action(value); });
  if (options.advance == "event") {
    policy()->set_advance(Policy::ADVANCE_AFTER_EACH_EVENT);
  } else if (options.advance == "batch") {
    policy()->set_advance(Policy::ADVANCE_AFTER_EACH_BATCH);
  }
  if (status.ok() &&
      stream->watermark_policy().source_case() == Policy::SOURCE_NOT_SET) {
    return absl::InvalidArgumentError(
        "a stream needs to know how late events may come: --delay DURATION "
        "(0 is allowed), or --asserted if producers tell the watermark");
  }
  return status;
}

absl::Status ApplyTrigger(const ViewCreateOptions& options,
                          v1::ViewSpec* spec) {
  if (options.no_on_time) spec->mutable_trigger()->set_no_on_time(true);
  if (options.early == "every_batch") {
    spec->mutable_trigger()->mutable_early()->set_every_batch(true);
  } else if (!options.early.empty()) {
    const absl::Status status =
        SetDuration(options.early,
                    spec->mutable_trigger()->mutable_early()->mutable_every());
    if (!status.ok()) return status;
  }
  if (options.late == "none") {
    spec->mutable_trigger()->mutable_late()->set_none(true);
  } else if (options.late == "every_batch") {
    spec->mutable_trigger()->mutable_late();
  } else if (!options.late.empty()) {
    return SetDuration(
        options.late, spec->mutable_trigger()->mutable_late()->mutable_every());
  }
  return absl::OkStatus();
}

absl::Status ApplyWindow(const ViewCreateOptions& options, v1::ViewSpec* spec) {
  if (!options.window.empty()) {
    absl::StatusOr<v1::WindowSpec> window = ParseWindow(options.window);
    if (!window.ok()) return window.status();
    *spec->mutable_window() = *std::move(window);
  }
  if (spec->window().kind_case() == v1::WindowSpec::KIND_NOT_SET) {
    return absl::InvalidArgumentError(
        absl::StrCat("a view needs a window: --window ", kWindowForms));
  }
  if (options.gap_rule.empty()) return absl::OkStatus();
  if (!spec->window().has_session()) {
    return absl::InvalidArgumentError("--gap_rule is for session windows");
  }
  SetEnum<v1::WindowSpec::Session::GapRule>(
      options.gap_rule, v1::WindowSpec::Session::GapRule_descriptor(),
      "GAP_RULE_", [&](auto value) {
        spec->mutable_window()->mutable_session()->set_gap_rule(value);
      });
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadDefinition(const std::string& path, pb::Message* message) {
  std::ifstream file(path);
  std::stringstream content;
  content << file.rdbuf();
  if (!file) {
    return absl::NotFoundError(absl::StrCat("can't read file \"", path, "\""));
  }
  const std::string text = content.str();
  const absl::string_view start = absl::StripLeadingAsciiWhitespace(text);
  if (absl::EndsWith(path, ".json") || absl::StartsWith(start, "{")) {
    const auto status = pb::util::JsonStringToMessage(text, message);
    if (status.ok()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": ",
        std::string(status.message().data(), status.message().size())));
  }
  FirstError error;
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (parser.ParseFromString(text, message)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(path, ":", error.text()));
}

absl::StatusOr<v1::FieldSpec> ParseField(absl::string_view text) {
  constexpr char kWant[] =
      "NAME:TYPE[:required], TYPE one of int64, double, bool, string, bytes";
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  if (parts.size() < 2 || parts.size() > 3 || parts[0].empty()) {
    return Bad("--field", text, kWant);
  }
  v1::FieldSpec field;
  field.set_name(parts[0]);
  field.set_type(static_cast<v1::FieldType>(
      EnumByWord(v1::FieldType_descriptor(), "FIELD_TYPE_", parts[1])));
  if (field.type() == v1::FIELD_TYPE_UNSPECIFIED) {
    return Bad("--field", text, kWant);
  }
  if (parts.size() == 3) {
    if (parts[2] != "required") return Bad("--field", text, kWant);
    field.set_required(true);
  }
  return field;
}

absl::StatusOr<v1::WindowSpec> ParseWindow(absl::string_view text) {
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(text, absl::MaxSplits(':', 1));
  v1::WindowSpec window;
  absl::Status status;
  if (parts.first == "tumbling") {
    status = ParseTumbling(parts.second, window.mutable_tumbling());
  } else if (parts.first == "sliding") {
    status = ParseSliding(parts.second, window.mutable_sliding());
  } else if (parts.first == "session") {
    status = ParseSession(parts.second, window.mutable_session());
  } else {
    return Bad("--window", text, kWindowForms);
  }
  if (!status.ok()) return status;
  return window;
}

absl::StatusOr<v1::AggregateSpec> ParseAggregate(absl::string_view text) {
  constexpr char kWant[] =
      "FUNCTION[:FIELD][=ALIAS], as count, sum:delay_min or "
      "mean:delay_min=mean_delay";
  const std::pair<std::string, std::string> named =
      absl::StrSplit(text, absl::MaxSplits('=', 1));
  const std::pair<std::string, std::string> call =
      absl::StrSplit(named.first, absl::MaxSplits(':', 1));
  v1::AggregateSpec aggregate;
  aggregate.set_function(static_cast<v1::AggregateSpec::Function>(EnumByWord(
      v1::AggregateSpec::Function_descriptor(), "FUNCTION_", call.first)));
  if (aggregate.function() == v1::AggregateSpec::FUNCTION_UNSPECIFIED) {
    return Bad("--agg", text, kWant);
  }
  aggregate.set_field(call.second);
  std::string alias = named.second;
  if (alias.empty()) {
    alias = absl::AsciiStrToLower(call.first);
    if (!call.second.empty()) absl::StrAppend(&alias, "_", call.second);
  }
  aggregate.set_alias(alias);
  return aggregate;
}

absl::StatusOr<v1::Stream> StreamDefinition(
    const StreamCreateOptions& options) {
  v1::Stream stream;
  if (!options.file.empty()) {
    absl::Status status = ReadDefinition(options.file, &stream);
    if (!status.ok()) return status;
  }
  for (const std::string& text : options.fields) {
    absl::StatusOr<v1::FieldSpec> field = ParseField(text);
    if (!field.ok()) return field.status();
    *stream.add_fields() = *std::move(field);
  }
  if (absl::Status status = ApplyWatermark(options, &stream); !status.ok()) {
    return status;
  }
  SetEnum<v1::InvalidEventPolicy>(
      options.invalid, v1::InvalidEventPolicy_descriptor(),
      "INVALID_EVENT_POLICY_",
      [&](auto value) { stream.set_invalid_event_policy(value); });
  return stream;
}

absl::StatusOr<v1::View> ViewDefinition(const ViewCreateOptions& options) {
  v1::View view;
  if (!options.file.empty()) {
    absl::Status status = ReadDefinition(options.file, &view);
    if (!status.ok()) return status;
  }
  v1::ViewSpec& spec = *view.mutable_spec();
  absl::Status status = ApplyWindow(options, &spec);
  if (!status.ok()) return status;
  for (const std::string& field : options.group_by) spec.add_group_by(field);
  for (const std::string& text : options.aggregates) {
    absl::StatusOr<v1::AggregateSpec> aggregate = ParseAggregate(text);
    if (!aggregate.ok()) return aggregate.status();
    *spec.add_aggregates() = *std::move(aggregate);
  }
  if (spec.aggregates().empty()) {
    return absl::InvalidArgumentError(
        "a view needs at least one aggregate: --agg count, --agg sum:FIELD");
  }
  if (!options.lateness.empty()) {
    status = SetDuration(options.lateness, spec.mutable_allowed_lateness());
    if (!status.ok()) return status;
  }
  SetEnum<v1::ViewSpec::LateRule>(
      options.late_rule, v1::ViewSpec::LateRule_descriptor(), "LATE_RULE_",
      [&](auto value) { spec.set_late_rule(value); });
  SetEnum<v1::ViewSpec::SessionLateCheck>(
      options.session_late_check, v1::ViewSpec::SessionLateCheck_descriptor(),
      "SESSION_LATE_CHECK_",
      [&](auto value) { spec.set_session_late_check(value); });
  status = ApplyTrigger(options, &spec);
  if (!status.ok()) return status;
  return view;
}

}  // namespace casement::tool
