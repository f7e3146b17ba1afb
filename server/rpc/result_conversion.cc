#include "server/rpc/result_conversion.h"

#include <vector>

#include "absl/status/statusor.h"
#include "server/engine/error.h"
#include "server/rpc/aggregate_conversion.h"
#include "server/rpc/field_errors.h"
#include "server/rpc/time_conversion.h"
#include "server/rpc/view_conversion.h"

namespace casement::rpc {
namespace {

bool IsRetracted(const engine::Result& result) {
  return result.finality == engine::Finality::kRetracted;
}

absl::Status SetKey(const std::string& encoded, v1::Key* key) {
  const absl::StatusOr<std::vector<engine::ScalarValue>> parts =
      engine::DecodeKey(encoded);
  if (!parts.ok()) return parts.status();
  for (const engine::ScalarValue& part : *parts) {
    SetValue(part, key->add_parts());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status SetWindowResult(const std::string& view,
                             const engine::Result& result,
                             v1::WindowResult* proto) {
  SetWindow(result.window, proto->mutable_window());
  if (absl::Status status = SetKey(result.key, proto->mutable_key());
      !status.ok()) {
    return status;
  }
  // Wire numbers and the engine's agree; a test holds them together.
  proto->set_finality(static_cast<v1::Finality>(result.finality));
  proto->set_reason(static_cast<v1::EmitReason>(result.reason));
  proto->set_timing(static_cast<v1::Timing>(result.timing));
  proto->set_version(result.version);
  proto->set_view(view);
  proto->set_revision(kRevision);
  proto->set_partial_span(result.partial_span);
  for (const engine::Window& replaced : result.replaced_windows) {
    SetWindow(replaced, proto->add_replaced_windows());
  }
  if (IsRetracted(result)) return absl::OkStatus();
  for (const engine::AggregateValue& value : result.values) {
    SetAggregateValue(value, proto->add_values());
  }
  proto->set_event_count(result.event_count);
  *proto->mutable_first_event_time() = ToTimestamp(result.first_event_time);
  *proto->mutable_last_event_time() = ToTimestamp(result.last_event_time);
  if (result.finality == engine::Finality::kProvisional) {
    *proto->mutable_final_at() = ToTimestamp(result.final_at);
  }
  return absl::OkStatus();
}

void SetWindow(const engine::Window& window, v1::Window* proto) {
  *proto->mutable_start_time() = ToTimestamp(window.start);
  *proto->mutable_end_time() = ToTimestamp(window.end);
}

absl::StatusOr<runtime::FinalityFilter> ToFinalityFilter(
    const google::protobuf::RepeatedField<int>& finalities) {
  runtime::FinalityFilter filter;
  filter.all = finalities.empty();
  for (int i = 0; i < finalities.size(); ++i) {
    const int finality = finalities[i];
    if (finality == v1::FINALITY_UNSPECIFIED ||
        !v1::Finality_IsValid(finality)) {
      return engine::InvalidField(At("finalities", i),
                                  "is not a value that this server knows");
    }
    filter.allowed[finality] = true;
  }
  return filter;
}

}  // namespace casement::rpc
