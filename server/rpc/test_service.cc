#include "server/rpc/test_service.h"

#include <optional>

#include "server/engine/error.h"
#include "server/rpc/time_conversion.h"
#include "server/rpc/unary_call.h"

namespace casement::rpc {

grpc::ServerUnaryReactor* TestService::SetClock(
    grpc::CallbackServerContext* context, const v1::SetClockRequest* request,
    v1::SetClockResponse* /*response*/) {
  UnaryCall call(context, &services_->calls());
  if (!request->has_time()) {
    clock_->Set(std::nullopt);
    return call.Succeed();
  }
  engine::TimeUs now = 0;
  const TimeFault fault = ToTimeUs(request->time(), &now);
  if (fault != TimeFault::kNone) {
    return call.Fail(engine::InvalidField("time", Describe(fault)));
  }
  clock_->Set(now);
  return call.Succeed();
}

}  // namespace casement::rpc
