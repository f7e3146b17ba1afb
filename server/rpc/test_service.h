// The clock in a test's hands. Served with --test_clock only.
#ifndef CASEMENT_SERVER_RPC_TEST_SERVICE_H_
#define CASEMENT_SERVER_RPC_TEST_SERVICE_H_

#include "casement/v1/test.grpc.pb.h"
#include "server/rpc/service_context.h"
#include "server/runtime/clock.h"

namespace casement::rpc {

class TestService : public v1::TestService::CallbackService {
 public:
  // Both outlive this.
  TestService(ServiceContext* services, runtime::ManualClock* clock)
      : services_(services), clock_(clock) {}

  grpc::ServerUnaryReactor* SetClock(grpc::CallbackServerContext* context,
                                     const v1::SetClockRequest* request,
                                     v1::SetClockResponse* response) override;

 private:
  ServiceContext* const services_;
  runtime::ManualClock* const clock_;
};

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_TEST_SERVICE_H_
