// The gRPC server: it listens at once, answers RECOVERING until it is given a
// runtime, and stops in an order that loses nobody's acknowledgement.
//
//   auto server = RpcServer::Start(options);   // the port is taken
//   server->Serve(runtime);                    // calls are served
//   server->AnnounceDrain();                   // health: NOT_SERVING
//   server->Drain(deadline);                   // all calls are over
//
// The runtime outlives the server.
#ifndef CASEMENT_SERVER_RPC_SERVER_H_
#define CASEMENT_SERVER_RPC_SERVER_H_

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/rpc/admin_service.h"
#include "server/rpc/definition_service.h"
#include "server/rpc/ingest_service.h"
#include "server/rpc/result_service.h"
#include "server/rpc/service_context.h"
#include "server/rpc/test_service.h"
#include "server/runtime/clock.h"
#include "server/runtime/runtime.h"

namespace casement::rpc {

struct RpcServerOptions {
  std::string address = "127.0.0.1:0";  // port 0: any that is free
  // If set, TestService is served and sets it. Outlives the server.
  runtime::ManualClock* test_clock = nullptr;
};

class RpcServer {
 public:
  // UNAVAILABLE if the address can't be listened on.
  static absl::StatusOr<std::unique_ptr<RpcServer>> Start(
      const RpcServerOptions& options);
  ~RpcServer();
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;

  int port() const { return port_; }

  void Serve(runtime::Runtime* runtime);

  // Tells balancers to go elsewhere; calls are still served.
  void AnnounceDrain();
  // Refuses new calls, lets streams say what is committed and end, and returns
  // when no call is left; those that take longer are cut off.
  void Drain(std::chrono::milliseconds deadline);

  // For tests.
  ServiceContext& services() { return services_; }

 private:
  explicit RpcServer(runtime::ManualClock* test_clock);

  void SetHealth(runtime::ServerState state);

  ServiceContext services_;
  DefinitionService definitions_;
  IngestService ingest_;
  ResultService results_;
  AdminService admin_;
  std::unique_ptr<TestService> test_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
  bool drained_ = false;
};

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_SERVER_H_
