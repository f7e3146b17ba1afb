#include <google/protobuf/util/json_util.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "casement/v1/admin.grpc.pb.h"
#include "client/tool/commands.h"
#include "client/tool/rpc_call.h"
#include "client/tool/values.h"

namespace casement::tool {
namespace {

void Line(Io& io, const char* name, const std::string& text) {
  *io.out << absl::StrFormat("%-14s %s\n", name, text);
}

}  // namespace

int ServerInfo(Io& io, const ServerOptions& server, const std::string& format) {
  const auto channel = Connect(server);
  if (!channel.ok()) return ReportError(io, channel.status());
  const auto stub = v1::AdminService::NewStub(*channel);
  const absl::StatusOr<v1::GetServerInfoResponse> info =
      Call(*stub, &v1::AdminService::Stub::GetServerInfo,
           v1::GetServerInfoRequest());
  if (!info.ok()) return ReportError(io, info.status());
  if (format == "json") {
    google::protobuf::util::JsonPrintOptions options;
    options.preserve_proto_field_names = true;
    std::string json;
    if (!google::protobuf::util::MessageToJsonString(*info, &json, options)
             .ok()) {
      return ReportError(io, absl::InternalError("the answer has no JSON"));
    }
    *io.out << json << "\n";
    return kExitOk;
  }
  Line(io, "version", info->version());
  Line(io, "state",
       std::string(absl::StripPrefix(v1::ServerState_Name(info->state()),
                                     "SERVER_STATE_")));
  Line(io, "started", FormatTime(info->start_time()));
  Line(io, "store",
       absl::StrCat(info->store_id(), ", format ", info->store_format()));
  const v1::IngestLimits& limits = info->limits();
  Line(io, "batch limits",
       absl::StrCat(limits.max_batch_events(), " events, ",
                    limits.max_batch_bytes(), " bytes in columns, ",
                    limits.max_row_batch_bytes(), " in rows, ",
                    limits.max_in_flight_batches(), " in flight"));
  Line(io, "features", absl::StrJoin(info->features(), ", "));
  return kExitOk;
}

}  // namespace casement::tool
