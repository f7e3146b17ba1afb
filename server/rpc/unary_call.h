// A unary call on its way to the runtime and back. Copied into the callback
// that answers; Fail or Succeed is called exactly once.
//
//   UnaryCall call(context, &services->calls());
//   if (!name.ok()) return call.Fail(name.status());
//   runtime->GetStream(*name, call.Answer<StreamInfo>([=](const auto& info) {
//     SetStream(info, response);
//   }));
//   return call.reactor();
#ifndef CASEMENT_SERVER_RPC_UNARY_CALL_H_
#define CASEMENT_SERVER_RPC_UNARY_CALL_H_

#include <grpcpp/grpcpp.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/rpc/call_registry.h"
#include "server/rpc/status_conversion.h"
#include "server/runtime/runtime.h"

namespace casement::rpc {

class UnaryCall {
 public:
  // `calls` outlives the call.
  UnaryCall(grpc::CallbackServerContext* context, CallRegistry* calls)
      : context_(context), reactor_(context->DefaultReactor()), calls_(calls) {
    calls_->BeginShort();
  }

  grpc::ServerUnaryReactor* reactor() const { return reactor_; }

  grpc::ServerUnaryReactor* Fail(const absl::Status& status) const {
    Finish(context_, reactor_, status);
    calls_->EndShort();
    return reactor_;
  }
  grpc::ServerUnaryReactor* Succeed() const { return Fail(absl::OkStatus()); }

  // The callback for the runtime: `fill` turns what came into the response.
  template <typename T, typename Fill>
  runtime::Done<T> Answer(Fill fill) const {
    return [call = *this, fill = std::move(fill)](absl::StatusOr<T> value) {
      if (value.ok()) fill(*value);
      call.Fail(value.status());
    };
  }
  runtime::DoneStatus AnswerStatus() const {
    return [call = *this](const absl::Status& status) { call.Fail(status); };
  }

 private:
  grpc::CallbackServerContext* context_;
  grpc::ServerUnaryReactor* reactor_;
  CallRegistry* calls_;
};

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_UNARY_CALL_H_
