// Results out.
#ifndef CASEMENT_SERVER_RPC_RESULT_SERVICE_H_
#define CASEMENT_SERVER_RPC_RESULT_SERVICE_H_

#include "casement/v1/result.grpc.pb.h"
#include "server/rpc/list_windows_call.h"
#include "server/rpc/service_context.h"
#include "server/rpc/subscribe_reactor.h"

namespace casement::rpc {

class ResultService : public v1::ResultService::CallbackService {
 public:
  // `services` outlives this.
  explicit ResultService(ServiceContext* services) : services_(services) {}

  grpc::ServerWriteReactor<v1::SubscribeResponse>* Subscribe(
      grpc::CallbackServerContext* /*context*/,
      const v1::SubscribeRequest* request) override {
    return SubscribeReactor::Start(services_, *request);
  }
  grpc::ServerUnaryReactor* ListWindows(
      grpc::CallbackServerContext* context,
      const v1::ListWindowsRequest* request,
      v1::ListWindowsResponse* response) override {
    return ListWindowsCall::Start(services_, context, *request, response);
  }

 private:
  ServiceContext* const services_;
};

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_RESULT_SERVICE_H_
