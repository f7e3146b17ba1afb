#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "casement/v1/admin.grpc.pb.h"
#include "casement/v1/definition.grpc.pb.h"
#include "client/names.h"
#include "client/tool/commands.h"
#include "client/tool/definitions.h"
#include "client/tool/describe.h"
#include "client/tool/rpc_call.h"
#include "client/tool/table.h"

namespace casement::tool {
namespace {

using Definitions = v1::DefinitionService::Stub;
using Admin = v1::AdminService::Stub;

}  // namespace

int ViewCreate(Io& io, const ServerOptions& server,
               const ViewCreateOptions& options) {
  const absl::StatusOr<std::string> name = client::ViewName(options.name);
  if (!name.ok()) return ReportUsage(io, name.status().message());
  const absl::StatusOr<v1::View> definition = ViewDefinition(options);
  if (!definition.ok()) return ReportUsage(io, definition.status().message());
  const auto channel = Connect(server);
  if (!channel.ok()) return ReportError(io, channel.status());
  const auto stub = v1::DefinitionService::NewStub(*channel);
  v1::CreateViewRequest request;
  request.set_parent(client::StreamOfView(*name));
  request.set_view_id(client::LastPart(*name));
  *request.mutable_view() = *definition;
  request.set_validate_only(options.validate_only);
  const absl::StatusOr<v1::View> view =
      Call(*stub, &Definitions::CreateView, request);
  if (!view.ok()) return ReportError(io, view.status());
  *io.out << (options.validate_only ? "valid: " : "view ") << *name << "\n";
  return kExitOk;
}

int ViewList(Io& io, const ServerOptions& server, const std::string& stream) {
  const absl::StatusOr<std::string> parent = client::StreamName(stream);
  if (!parent.ok()) return ReportUsage(io, parent.status().message());
  const auto channel = Connect(server);
  if (!channel.ok()) return ReportError(io, channel.status());
  const auto stub = v1::DefinitionService::NewStub(*channel);
  Table table({"VIEW", "WINDOW", "GROUP BY", "AGGREGATES", "WATERMARK"});
  v1::ListViewsRequest request;
  request.set_parent(*parent);
  do {
    const absl::StatusOr<v1::ListViewsResponse> page =
        Call(*stub, &Definitions::ListViews, request);
    if (!page.ok()) return ReportError(io, page.status());
    for (const v1::View& view : page->views()) {
      table.Add({client::ShortName(view.name()),
                 WindowText(view.spec().window()),
                 absl::StrJoin(view.spec().group_by(), ","),
                 absl::StrJoin(view.spec().aggregates(), ",",
                               [](std::string* out, const auto& aggregate) {
                                 out->append(aggregate.alias());
                               }),
                 WatermarkText(view.progress())});
    }
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  table.Print(*io.out);
  return kExitOk;
}

int ViewDescribe(Io& io, const ServerOptions& server,
                 const DescribeOptions& options) {
  const absl::StatusOr<std::string> name = client::ViewName(options.name);
  if (!name.ok()) return ReportUsage(io, name.status().message());
  const auto channel = Connect(server);
  if (!channel.ok()) return ReportError(io, channel.status());
  const auto stub = v1::DefinitionService::NewStub(*channel);
  v1::GetViewRequest request;
  request.set_name(*name);
  const absl::StatusOr<v1::View> view =
      Call(*stub, &Definitions::GetView, request);
  if (!view.ok()) return ReportError(io, view.status());
  const auto admin = v1::AdminService::NewStub(*channel);
  v1::GetStatsRequest stats_request;
  stats_request.set_name(*name);
  const absl::StatusOr<v1::GetStatsResponse> stats =
      Call(*admin, &Admin::GetStats, stats_request);
  if (!stats.ok()) return ReportError(io, stats.status());
  if (options.format == "json") {
    const absl::StatusOr<std::string> json = ViewJson(*view, stats->stats());
    if (!json.ok()) return ReportError(io, json.status());
    *io.out << *json;
  } else {
    *io.out << DescribeView(*view, stats->stats());
  }
  return kExitOk;
}

int ViewDelete(Io& io, const ServerOptions& server, const std::string& text) {
  const absl::StatusOr<std::string> name = client::ViewName(text);
  if (!name.ok()) return ReportUsage(io, name.status().message());
  const auto channel = Connect(server);
  if (!channel.ok()) return ReportError(io, channel.status());
  const auto stub = v1::DefinitionService::NewStub(*channel);
  v1::DeleteViewRequest request;
  request.set_name(*name);
  const auto answer = Call(*stub, &Definitions::DeleteView, request);
  if (!answer.ok()) return ReportError(io, answer.status());
  *io.out << "deleted " << *name << "\n";
  return kExitOk;
}

}  // namespace casement::tool
