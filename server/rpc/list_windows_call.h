// One ListWindows. It may wait for a version, so it can be ended before the
// runtime answers: by its deadline, by the client, by a drain.
#ifndef CASEMENT_SERVER_RPC_LIST_WINDOWS_CALL_H_
#define CASEMENT_SERVER_RPC_LIST_WINDOWS_CALL_H_

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "casement/v1/result.pb.h"
#include "server/rpc/call_registry.h"
#include "server/rpc/service_context.h"
#include "server/runtime/runtime.h"

namespace casement::rpc {

class ListWindowsCall final
    : public grpc::ServerUnaryReactor,
      public LongCall,
      public std::enable_shared_from_this<ListWindowsCall> {
 public:
  // Owns itself until its call is done. `services` outlives it.
  static ListWindowsCall* Start(ServiceContext* services,
                                grpc::CallbackServerContext* context,
                                const v1::ListWindowsRequest& request,
                                v1::ListWindowsResponse* response);

  void OnCancel() override;
  void OnDone() override;
  void Drain() override;

 private:
  ListWindowsCall(grpc::CallbackServerContext* context,
                  v1::ListWindowsResponse* response)
      : context_(context), response_(response) {}

  absl::Status Open(ServiceContext* services,
                    const v1::ListWindowsRequest& request);
  void SetAlarm();
  void OnPage(const absl::StatusOr<runtime::WindowPage>& page);
  absl::Status Fill(const runtime::WindowPage& page);
  void FinishOnce(const absl::Status& status);
  bool finished() const;

  grpc::CallbackServerContext* const context_;
  v1::ListWindowsResponse* const response_;
  std::shared_ptr<ListWindowsCall> self_;
  CallRegistry::Registration registration_;

  // Set before anything starts.
  std::string view_;
  std::string request_id_;               // what page tokens are bound to
  engine::TimeUs view_create_time_ = 0;  // of the token, if there was one
  bool has_token_ = false;
  runtime::FinalityFilter filter_;

  mutable std::mutex mutex_;
  bool finished_ = false;
  std::unique_ptr<grpc::Alarm> alarm_;
};

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_LIST_WINDOWS_CALL_H_
