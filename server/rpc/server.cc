#include "server/rpc/server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>

#include <algorithm>
#include <initializer_list>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/rpc/limits.h"

namespace casement::rpc {
namespace {

constexpr int kSecond = 1000;
constexpr int kMinute = 60 * kSecond;

// For connections without calls to close.
constexpr std::chrono::milliseconds kForConnections(200);

// Long streams end for operational reasons: age spreads them over the servers
// behind a balancer. Clients resume.
void SetConnectionArguments(grpc::ServerBuilder* builder) {
  builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, 30 * kMinute);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS,
                              5 * kMinute);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, 15 * kMinute);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60 * kSecond);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20 * kSecond);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder->AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5 * kSecond);
}

}  // namespace

RpcServer::RpcServer(runtime::ManualClock* test_clock)
    : definitions_(&services_),
      ingest_(&services_),
      results_(&services_),
      admin_(&services_) {
  if (test_clock != nullptr) {
    test_ = std::make_unique<TestService>(&services_, test_clock);
  }
}

RpcServer::~RpcServer() {
  if (server_ != nullptr) Drain(std::chrono::milliseconds(0));
  if (runtime::Runtime* runtime = services_.runtime_or_null()) {
    runtime->OnStateChange(nullptr);
  }
}

absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Start(
    const RpcServerOptions& options) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  std::unique_ptr<RpcServer> server(new RpcServer(options.test_clock));
  grpc::ServerBuilder builder;
  SetConnectionArguments(&builder);
  builder.SetMaxReceiveMessageSize(kMaxReceivedBytes);
  builder.AddListeningPort(options.address, grpc::InsecureServerCredentials(),
                           &server->port_);
  builder.RegisterService(&server->definitions_);
  builder.RegisterService(&server->ingest_);
  builder.RegisterService(&server->results_);
  builder.RegisterService(&server->admin_);
  if (server->test_ != nullptr) builder.RegisterService(server->test_.get());
  server->server_ = builder.BuildAndStart();
  if (server->server_ == nullptr || server->port_ <= 0) {
    return absl::UnavailableError(absl::StrCat(
        "can't listen on ", options.address,
        ": is the port taken, or the address not this machine's?"));
  }
  server->SetHealth(runtime::ServerState::kRecovering);
  return server;
}

void RpcServer::Serve(runtime::Runtime* runtime) {
  services_.SetRuntime(runtime);
  runtime->OnStateChange(
      [this](runtime::ServerState state) { SetHealth(state); });
  SetHealth(runtime->state());
}

void RpcServer::SetHealth(runtime::ServerState state) {
  grpc::HealthCheckServiceInterface* health = server_->GetHealthCheckService();
  if (health == nullptr) return;
  const bool reads = state == runtime::ServerState::kServing ||
                     state == runtime::ServerState::kReadOnly;
  const bool writes = state == runtime::ServerState::kServing;
  health->SetServingStatus("", reads);
  health->SetServingStatus(v1::IngestService::service_full_name(), writes);
  for (const char* name : {v1::DefinitionService::service_full_name(),
                           v1::ResultService::service_full_name(),
                           v1::AdminService::service_full_name()}) {
    health->SetServingStatus(name, reads);
  }
  if (test_ != nullptr) {
    health->SetServingStatus(v1::TestService::service_full_name(), reads);
  }
}

void RpcServer::AnnounceDrain() {
  // After this, changes of the runtime's state show no more.
  if (auto* health = server_->GetHealthCheckService()) health->Shutdown();
}

void RpcServer::Drain(std::chrono::milliseconds deadline) {
  if (drained_) return;
  drained_ = true;
  AnnounceDrain();
  services_.BeginDrain();
  services_.calls().DrainAll();
  // Calls end while connections still work. Those that wait for a client which
  // doesn't read are cut off by the shutdown, and so are connections that lie
  // idle: their clients may not even see that they are told to go.
  const auto end = std::chrono::system_clock::now() + deadline;
  const bool over = services_.calls().WaitUntilEmpty(deadline * 4 / 5);
  const auto now = std::chrono::system_clock::now();
  server_->Shutdown(over ? std::min(now + kForConnections, end) : end);
}

}  // namespace casement::rpc
