#include <functional>

#include "absl/strings/str_cat.h"
#include "casement/v1/admin.grpc.pb.h"
#include "casement/v1/definition.grpc.pb.h"
#include "client/channel.h"
#include "client/names.h"
#include "client/tool/commands.h"
#include "client/tool/definitions.h"
#include "client/tool/describe.h"
#include "client/tool/durations.h"
#include "client/tool/rpc_call.h"
#include "client/tool/table.h"

namespace casement::tool {
namespace {

using Definitions = v1::DefinitionService::Stub;
using Admin = v1::AdminService::Stub;

// What a command does with a stream that it names.
using Use = std::function<absl::Status(Definitions&, const std::string& name)>;

int WithStream(Io& io, const ServerOptions& server, const std::string& id,
               const Use& use) {
  const absl::StatusOr<std::string> name = client::StreamName(id);
  if (!name.ok()) return ReportUsage(io, name.status().message());
  const auto channel = Connect(server);
  if (!channel.ok()) return ReportError(io, channel.status());
  const auto stub = v1::DefinitionService::NewStub(*channel);
  const absl::Status status = use(*stub, *name);
  return status.ok() ? kExitOk : ReportError(io, status);
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect(
    const ServerOptions& options) {
  const absl::StatusOr<google::protobuf::Duration> wait =
      ParseDuration(options.wait);
  if (!wait.ok()) return wait.status();
  auto channel = client::MakeChannel(options.server);
  const absl::Duration most = absl::Seconds(wait->seconds());
  if (most > absl::ZeroDuration() &&
      !channel->WaitForConnected(absl::ToChronoTime(absl::Now() + most))) {
    return absl::UnavailableError(absl::StrCat("no server at ", options.server,
                                               " within ", options.wait));
  }
  return channel;
}

int StreamCreate(Io& io, const ServerOptions& server,
                 const StreamCreateOptions& options) {
  const absl::StatusOr<v1::Stream> definition = StreamDefinition(options);
  if (!definition.ok()) return ReportUsage(io, definition.status().message());
  return WithStream(
      io, server, options.id,
      [&](Definitions& stub, const std::string& name) -> absl::Status {
        v1::CreateStreamRequest request;
        request.set_stream_id(client::LastPart(name));
        *request.mutable_stream() = *definition;
        request.set_validate_only(options.validate_only);
        const absl::StatusOr<v1::Stream> stream =
            Call(stub, &Definitions::CreateStream, request);
        if (!stream.ok()) return stream.status();
        *io.out << (options.validate_only ? "valid: " : "stream ") << name
                << "\n";
        return absl::OkStatus();
      });
}

int StreamList(Io& io, const ServerOptions& server) {
  const auto channel = Connect(server);
  if (!channel.ok()) return ReportError(io, channel.status());
  const auto stub = v1::DefinitionService::NewStub(*channel);
  Table table({"STREAM", "FIELDS", "WATERMARK", "VERSION"});
  v1::ListStreamsRequest request;
  do {
    const absl::StatusOr<v1::ListStreamsResponse> page =
        Call(*stub, &Definitions::ListStreams, request);
    if (!page.ok()) return ReportError(io, page.status());
    for (const v1::Stream& stream : page->streams()) {
      table.Add({client::ShortName(stream.name()),
                 absl::StrCat(stream.fields_size()),
                 WatermarkText(stream.progress()),
                 absl::StrCat(stream.progress().version())});
    }
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  table.Print(*io.out);
  return kExitOk;
}

int StreamDescribe(Io& io, const ServerOptions& server,
                   const DescribeOptions& options) {
  const absl::StatusOr<std::string> name = client::StreamName(options.name);
  if (!name.ok()) return ReportUsage(io, name.status().message());
  const auto channel = Connect(server);
  if (!channel.ok()) return ReportError(io, channel.status());
  const auto stub = v1::DefinitionService::NewStub(*channel);
  v1::GetStreamRequest request;
  request.set_name(*name);
  const absl::StatusOr<v1::Stream> stream =
      Call(*stub, &Definitions::GetStream, request);
  if (!stream.ok()) return ReportError(io, stream.status());
  const auto admin = v1::AdminService::NewStub(*channel);
  v1::GetStatsRequest stats_request;
  stats_request.set_name(*name);
  const absl::StatusOr<v1::GetStatsResponse> stats =
      Call(*admin, &Admin::GetStats, stats_request);
  if (!stats.ok()) return ReportError(io, stats.status());
  if (options.format == "json") {
    const absl::StatusOr<std::string> json =
        StreamJson(*stream, stats->stats());
    if (!json.ok()) return ReportError(io, json.status());
    *io.out << *json;
  } else {
    *io.out << DescribeStream(*stream, stats->stats());
  }
  return kExitOk;
}

int StreamEnd(Io& io, const ServerOptions& server, const std::string& id) {
  return WithStream(
      io, server, id,
      [&](Definitions& stub, const std::string& name) -> absl::Status {
        v1::EndStreamRequest request;
        request.set_name(name);
        const auto stream = Call(stub, &Definitions::EndStream, request);
        if (!stream.ok()) return stream.status();
        *io.out << "ended " << name << " at version "
                << stream->progress().version() << "\n";
        return absl::OkStatus();
      });
}

int StreamDelete(Io& io, const ServerOptions& server, const std::string& id,
                 bool force) {
  return WithStream(
      io, server, id,
      [&](Definitions& stub, const std::string& name) -> absl::Status {
        v1::DeleteStreamRequest request;
        request.set_name(name);
        request.set_force(force);
        const auto answer = Call(stub, &Definitions::DeleteStream, request);
        if (!answer.ok()) return answer.status();
        *io.out << "deleted " << name << "\n";
        return absl::OkStatus();
      });
}

}  // namespace casement::tool
