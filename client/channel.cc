#include "client/channel.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace casement::client {
namespace {

constexpr const char* kRepeatable[][2] = {
    {"DefinitionService", "CreateStream"}, {"DefinitionService", "GetStream"},
    {"DefinitionService", "ListStreams"},  {"DefinitionService", "EndStream"},
    {"DefinitionService", "CreateView"},   {"DefinitionService", "GetView"},
    {"DefinitionService", "ListViews"},    {"IngestService", "AppendBatch"},
    {"IngestService", "GetProducer"},      {"ResultService", "ListWindows"},
    {"AdminService", "GetServerInfo"},     {"AdminService", "GetStats"},
};

// A machine's http_proxy is for other machines: through it, its own loopback
// can't be reached.
bool IsLoopback(const std::string& server) {
  return absl::StartsWith(server, "127.") ||
         absl::StartsWith(server, "localhost:") ||
         absl::StartsWith(server, "[::1]");
}

}  // namespace

std::string ServiceConfigJson() {
  std::vector<std::string> names;
  for (const auto& [service, method] : kRepeatable) {
    names.push_back(absl::StrCat("{\"service\":\"casement.v1.", service,
                                 "\",\"method\":\"", method, "\"}"));
  }
  return absl::StrCat(
      "{\"methodConfig\":[{\"name\":[", absl::StrJoin(names, ","),
      "],\"retryPolicy\":{\"maxAttempts\":4,\"initialBackoff\":\"0.1s\","
      "\"maxBackoff\":\"2s\",\"backoffMultiplier\":2,"
      "\"retryableStatusCodes\":[\"UNAVAILABLE\"]}}],"
      "\"retryThrottling\":{\"maxTokens\":100,\"tokenRatio\":0.1}}");
}

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& server,
                                           const ChannelOptions& options) {
  grpc::ChannelArguments args;
  args.SetServiceConfigJSON(ServiceConfigJson());
  args.SetInt(GRPC_ARG_ENABLE_RETRIES, 1);
  args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, options.keepalive_time_ms);
  args.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, options.keepalive_timeout_ms);
  args.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 0);
  // A killed server is back in a second: look for it that often.
  args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1'000);
  if (IsLoopback(server)) args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(server,
                                   options.credentials
                                       ? options.credentials
                                       : grpc::InsecureChannelCredentials(),
                                   args);
}

}  // namespace casement::client
