// What the server is, and the accounts.
#ifndef CASEMENT_SERVER_RPC_ADMIN_SERVICE_H_
#define CASEMENT_SERVER_RPC_ADMIN_SERVICE_H_

#include "casement/v1/admin.grpc.pb.h"
#include "server/rpc/service_context.h"

namespace casement::rpc {

class AdminService : public v1::AdminService::CallbackService {
 public:
  // `services` outlives this.
  explicit AdminService(ServiceContext* services) : services_(services) {}

  // Answers in every state; while the server recovers, without the store's
  // part.
  grpc::ServerUnaryReactor* GetServerInfo(
      grpc::CallbackServerContext* context,
      const v1::GetServerInfoRequest* request,
      v1::GetServerInfoResponse* response) override;
  grpc::ServerUnaryReactor* GetStats(grpc::CallbackServerContext* context,
                                     const v1::GetStatsRequest* request,
                                     v1::GetStatsResponse* response) override;

 private:
  ServiceContext* const services_;
};

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_ADMIN_SERVICE_H_
