// Events in: checks and decodes a batch, hands it to the runtime, and answers
// when it is durable.
#ifndef CASEMENT_SERVER_RPC_INGEST_SERVICE_H_
#define CASEMENT_SERVER_RPC_INGEST_SERVICE_H_

#include "casement/v1/ingest.grpc.pb.h"
#include "server/rpc/service_context.h"

namespace casement::rpc {

class IngestService : public v1::IngestService::CallbackService {
 public:
  // `services` outlives this.
  explicit IngestService(ServiceContext* services) : services_(services) {}

  grpc::ServerUnaryReactor* OpenProducer(
      grpc::CallbackServerContext* context,
      const v1::OpenProducerRequest* request,
      v1::OpenProducerResponse* response) override;
  grpc::ServerUnaryReactor* AppendBatch(
      grpc::CallbackServerContext* context,
      const v1::AppendBatchRequest* request,
      v1::AppendBatchResponse* response) override;
  grpc::ServerBidiReactor<v1::AppendStreamRequest, v1::AppendStreamResponse>*
  AppendStream(grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* GetProducer(grpc::CallbackServerContext* context,
                                        const v1::GetProducerRequest* request,
                                        v1::Producer* response) override;

 private:
  ServiceContext* const services_;
};

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_INGEST_SERVICE_H_
