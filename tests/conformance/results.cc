#include "tests/conformance/results.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tests/conformance/values.h"

namespace casement::conformance {
namespace {

absl::Status Wrong(const std::string& what, const v1::WindowResult& result) {
  return absl::InternalError(
      absl::StrCat("a row ", what, ": ", result.ShortDebugString()));
}

absl::Status ReadFinality(const v1::WindowResult& result, SentRow* sent) {
  switch (result.finality()) {
    case v1::FINALITY_PROVISIONAL:
      sent->finality = SentRow::Finality::kProvisional;
      return absl::OkStatus();
    case v1::FINALITY_FINAL:
      sent->finality = SentRow::Finality::kFinal;
      return absl::OkStatus();
    case v1::FINALITY_RETRACTED:
      sent->finality = SentRow::Finality::kRetracted;
      return absl::OkStatus();
    default:
      return Wrong("whose finality no step brings out", result);
  }
}

absl::Status ReadKey(const v1::WindowResult& result, const Pipeline& pipeline,
                     SentRow* sent) {
  if (result.key().parts_size() != (pipeline.keyed ? 1 : 0)) {
    return Wrong("with another number of key parts", result);
  }
  if (!pipeline.keyed) return absl::OkStatus();
  const v1::Value& part = result.key().parts(0);
  if (part.kind_case() == v1::Value::kStringValue) {
    sent->row.key = part.string_value();
  } else if (part.kind_case() != v1::Value::KIND_NOT_SET) {
    return Wrong("whose key is not a string", result);
  }
  return absl::OkStatus();
}

void ReadBounds(const v1::WindowResult& result, const Pipeline& pipeline,
                SentRow* sent) {
  const v1::Window& window = result.window();
  sent->row.start = window.has_start_time() ? FromTimestamp(window.start_time())
                                            : kMinusInfinity;
  sent->end =
      window.has_end_time() ? FromTimestamp(window.end_time()) : kPlusInfinity;
  if (!pipeline.is_session()) sent->row.end = sent->end;
}

absl::Status ReadSession(const v1::WindowResult& result,
                         const Pipeline& pipeline, SentRow* sent) {
  if (!result.has_first_event_time() || !result.has_last_event_time()) {
    return Wrong("of a session without its first and last event", result);
  }
  sent->row.last = FromTimestamp(result.last_event_time());
  if (FromTimestamp(result.first_event_time()) != sent->row.start ||
      *sent->row.last + pipeline.window.gap.value != sent->end) {
    return Wrong("of a session whose bounds are not those of its events",
                 result);
  }
  return absl::OkStatus();
}

// The watermark that makes the window final.
Micros FinalAt(const Pipeline& pipeline, const SentRow& sent) {
  const bool inclusive =
      pipeline.is_session() && pipeline.window.gap_rule == "inclusive";
  return sent.end + (inclusive ? 1 : 0) + pipeline.allowed_lateness.value;
}

absl::Status ReadValues(const v1::WindowResult& result,
                        const Pipeline& pipeline, SentRow* sent) {
  if (result.values_size() != static_cast<int>(pipeline.aggregates.size())) {
    return Wrong("with another number of values", result);
  }
  for (int i = 0; i < result.values_size(); ++i) {
    const Aggregate& aggregate = pipeline.aggregates[i];
    absl::StatusOr<AggValue> value =
        FromAggregateValue(result.values(i), aggregate.fn);
    if (!value.ok()) return value.status();
    if (aggregate.fn == "count" && !aggregate.field.has_value() &&
        value->int64_value != result.event_count()) {
      return Wrong("whose event_count is not its count", result);
    }
    sent->row.values.push_back(*std::move(value));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SentRow> FromResult(const v1::WindowResult& result,
                                   const Pipeline& pipeline) {
  SentRow sent;
  sent.version = result.version();
  if (absl::Status s = ReadFinality(result, &sent); !s.ok()) return s;
  if (absl::Status s = ReadKey(result, pipeline, &sent); !s.ok()) return s;
  ReadBounds(result, pipeline, &sent);
  if (result.view().empty() || result.revision().empty()) {
    return Wrong("that does not name its view and revision", result);
  }
  if (result.partial_span()) {
    return Wrong(
        "marked partial_span, though the view is older than all "
        "events",
        result);
  }
  if (sent.finality == SentRow::Finality::kRetracted) {
    if (result.values_size() > 0) return Wrong("retracted with values", result);
    return sent;
  }
  if (pipeline.is_session()) {
    absl::Status status = ReadSession(result, pipeline, &sent);
    if (!status.ok()) return status;
  }
  absl::Status status = ReadValues(result, pipeline, &sent);
  if (!status.ok()) return status;
  if (sent.finality == SentRow::Finality::kProvisional &&
      pipeline.window.kind != "global" &&
      (!result.has_final_at() ||
       FromTimestamp(result.final_at()) != FinalAt(pipeline, sent))) {
    return Wrong("that does not rightly say when it will be final", result);
  }
  return sent;
}

}  // namespace casement::conformance
