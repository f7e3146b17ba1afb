// The commands. What this is for: one function each, from parsed options to an
// exit code. The one invariant: a command that fails has said why on `err`.

#ifndef CASEMENT_CLIENT_TOOL_COMMANDS_H_
#define CASEMENT_CLIENT_TOOL_COMMANDS_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/tool/io.h"
#include "client/tool/options.h"

namespace casement::tool {

// A channel, after having waited for the server as long as asked.
absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect(
    const ServerOptions& options);

int StreamCreate(Io& io, const ServerOptions& server,
                 const StreamCreateOptions& options);
int StreamList(Io& io, const ServerOptions& server);
int StreamDescribe(Io& io, const ServerOptions& server,
                   const DescribeOptions& options);
int StreamEnd(Io& io, const ServerOptions& server, const std::string& id);
int StreamDelete(Io& io, const ServerOptions& server, const std::string& id,
                 bool force);

int ViewCreate(Io& io, const ServerOptions& server,
               const ViewCreateOptions& options);
int ViewList(Io& io, const ServerOptions& server, const std::string& stream);
int ViewDescribe(Io& io, const ServerOptions& server,
                 const DescribeOptions& options);
int ViewDelete(Io& io, const ServerOptions& server, const std::string& name);

int Ingest(Io& io, const ServerOptions& server, const IngestOptions& options);
int Watch(Io& io, const ServerOptions& server, const WatchOptions& options);
int Windows(Io& io, const ServerOptions& server, const WindowsOptions& options);
int ServerInfo(Io& io, const ServerOptions& server, const std::string& format);

}  // namespace casement::tool

#endif  // CASEMENT_CLIENT_TOOL_COMMANDS_H_
