#include "server/rpc/admin_service.h"

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "server/engine/error.h"
#include "server/rpc/limits.h"
#include "server/rpc/names.h"
#include "server/rpc/time_conversion.h"
#include "server/rpc/unary_call.h"

namespace casement::rpc {
namespace {

// Optional behaviour that this server has.
constexpr const char* kFeatures[] = {
    "per_batch",
    "window_closed",
    "allowed_lateness",
    "provisional_on_change",
    "provisional_on_close",
    "session_exclusive",
    "session_check_own",
    "sliding_offset",
    "slide_over_size",
    "dedup_batch_seq",
    "reject_event",
    "reject_batch",
    "missing_key_group",
    "missing_key_reject",
    "sources",
    "future_hold",
    "future_reject",
    "end_of_stream",
};

v1::ServerState ToProto(runtime::ServerState state) {
  switch (state) {
    case runtime::ServerState::kRecovering:
      return v1::SERVER_STATE_RECOVERING;
    case runtime::ServerState::kServing:
      return v1::SERVER_STATE_SERVING;
    case runtime::ServerState::kReadOnly:
      return v1::SERVER_STATE_READ_ONLY;
    case runtime::ServerState::kDraining:
      return v1::SERVER_STATE_DRAINING;
  }
  return v1::SERVER_STATE_UNSPECIFIED;
}

void SetStreamStats(const runtime::StreamInfo& info, v1::Stats* stats) {
  *stats->mutable_read_time() = ToTimestamp(WallClockUs());
  SetProgress(info.progress, stats->mutable_progress());
  stats->set_received_events(info.accounts.received());
  stats->set_accepted_events(info.accounts.accepted);
  stats->set_rejected_events(info.accounts.rejected);
  stats->set_duplicate_events(info.accounts.duplicate);
  stats->set_late_events(info.accounts.late);
  stats->set_duplicate_batches(info.duplicate_batches);
}

void SetViewStats(const runtime::ViewInfo& info, v1::Stats* stats) {
  *stats->mutable_read_time() = ToTimestamp(WallClockUs());
  SetProgress(info.progress, info.definition.spec.allowed_lateness_us,
              stats->mutable_progress());
  stats->set_accepted_events(info.accounts.accepted);
  stats->set_counted_events(info.accounts.counted);
  stats->set_late_events(info.accounts.late);
  stats->set_unassigned_events(info.accounts.unassigned);
  stats->set_filtered_events(info.accounts.filtered);
  stats->set_late_places(info.accounts.late_places);
  stats->set_provisional_results(info.accounts.provisional_results);
  stats->set_final_results(info.accounts.final_results);
  stats->set_corrected_results(info.accounts.corrected_results);
  stats->set_retracted_results(info.accounts.retracted_results);
  stats->set_live_keys(info.live_keys);
}

}  // namespace

grpc::ServerUnaryReactor* AdminService::GetServerInfo(
    grpc::CallbackServerContext* context,
    const v1::GetServerInfoRequest* /*request*/,
    v1::GetServerInfoResponse* response) {
  UnaryCall call(context, &services_->calls());
  response->set_version(CASEMENT_VERSION);
  if (runtime::Runtime* runtime = services_->runtime_or_null()) {
    response->set_store_id(runtime->store_id());
    response->set_store_format(runtime->store_format());
  }
  SetLimits(response->mutable_limits());
  for (const char* feature : kFeatures) response->add_features(feature);
  *response->mutable_start_time() = ToTimestamp(services_->start_time());
  response->set_state(ToProto(services_->state()));
  return call.Succeed();
}

grpc::ServerUnaryReactor* AdminService::GetStats(
    grpc::CallbackServerContext* context, const v1::GetStatsRequest* request,
    v1::GetStatsResponse* response) {
  UnaryCall call(context, &services_->calls());
  const absl::StatusOr<runtime::Runtime*> runtime = services_->Enter();
  if (!runtime.ok()) return call.Fail(runtime.status());
  v1::Stats* stats = response->mutable_stats();
  if (absl::StrContains(request->name(), "/views/")) {
    const absl::StatusOr<ChildName> name =
        ParseViewName("name", request->name());
    if (!name.ok()) return call.Fail(name.status());
    (*runtime)->GetView(
        name->stream, name->id,
        call.Answer<runtime::ViewInfo>([stats](const runtime::ViewInfo& info) {
          SetViewStats(info, stats);
        }));
    return call.reactor();
  }
  absl::StatusOr<std::string> name = ParseStreamName("name", request->name());
  if (!name.ok()) {
    return call.Fail(engine::InvalidField(
        "name",
        "must be \"streams/{stream}\" or \"streams/{stream}/views/{view}\""));
  }
  (*runtime)->GetStream(*std::move(name),
                        call.Answer<runtime::StreamInfo>(
                            [stats](const runtime::StreamInfo& info) {
                              SetStreamStats(info, stats);
                            }));
  return call.reactor();
}

}  // namespace casement::rpc
