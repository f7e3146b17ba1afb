// Streams and views: checks the request, asks the runtime, turns the answer.
#ifndef CASEMENT_SERVER_RPC_DEFINITION_SERVICE_H_
#define CASEMENT_SERVER_RPC_DEFINITION_SERVICE_H_

#include "casement/v1/definition.grpc.pb.h"
#include "server/rpc/service_context.h"

namespace casement::rpc {

class DefinitionService : public v1::DefinitionService::CallbackService {
 public:
  // `services` outlives this.
  explicit DefinitionService(ServiceContext* services) : services_(services) {}

  grpc::ServerUnaryReactor* CreateStream(grpc::CallbackServerContext* context,
                                         const v1::CreateStreamRequest* request,
                                         v1::Stream* response) override;
  grpc::ServerUnaryReactor* GetStream(grpc::CallbackServerContext* context,
                                      const v1::GetStreamRequest* request,
                                      v1::Stream* response) override;
  grpc::ServerUnaryReactor* ListStreams(
      grpc::CallbackServerContext* context,
      const v1::ListStreamsRequest* request,
      v1::ListStreamsResponse* response) override;
  grpc::ServerUnaryReactor* EndStream(grpc::CallbackServerContext* context,
                                      const v1::EndStreamRequest* request,
                                      v1::Stream* response) override;
  grpc::ServerUnaryReactor* DeleteStream(
      grpc::CallbackServerContext* context,
      const v1::DeleteStreamRequest* request,
      google::protobuf::Empty* response) override;
  grpc::ServerUnaryReactor* CreateView(grpc::CallbackServerContext* context,
                                       const v1::CreateViewRequest* request,
                                       v1::View* response) override;
  grpc::ServerUnaryReactor* GetView(grpc::CallbackServerContext* context,
                                    const v1::GetViewRequest* request,
                                    v1::View* response) override;
  grpc::ServerUnaryReactor* ListViews(grpc::CallbackServerContext* context,
                                      const v1::ListViewsRequest* request,
                                      v1::ListViewsResponse* response) override;
  grpc::ServerUnaryReactor* DeleteView(
      grpc::CallbackServerContext* context,
      const v1::DeleteViewRequest* request,
      google::protobuf::Empty* response) override;

 private:
  ServiceContext* const services_;
};

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_DEFINITION_SERVICE_H_
