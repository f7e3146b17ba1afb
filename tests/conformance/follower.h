// Follows one view's results by a cursor over all stops, kills and starts of
// the server, as a consumer does that keeps its cursor with what it has taken.

#ifndef CASEMENT_TESTS_CONFORMANCE_FOLLOWER_H_
#define CASEMENT_TESTS_CONFORMANCE_FOLLOWER_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "casement/v1/result.grpc.pb.h"

namespace casement::conformance {

class Follower {
 public:
  explicit Follower(std::string view) : view_(std::move(view)) {}
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  // Subscribes: the first time to everything, later after the last cursor.
  // Reads until the backlog has been sent.
  absl::Status Open(const std::shared_ptr<grpc::Channel>& channel);
  // Reads until everything up to `version` has been sent.
  absl::Status ReadUntil(int64_t version);
  // The server is gone: reads what it had sent before it went.
  void ReadRest();

  // The rows read since the last call.
  std::vector<v1::WindowResult> Take() { return std::move(rows_); }

 private:
  // False at the end of the call.
  bool ReadOne(v1::SubscribeResponse* response);
  // The error that the call ended with.
  absl::Status Broken();
  void Forget();

  const std::string view_;
  std::unique_ptr<v1::ResultService::Stub> stub_;
  std::unique_ptr<grpc::ClientContext> context_;
  std::unique_ptr<grpc::ClientReader<v1::SubscribeResponse>> reader_;
  std::string cursor_;
  int64_t served_version_ = 0;
  std::vector<v1::WindowResult> rows_;
};

}  // namespace casement::conformance

#endif  // CASEMENT_TESTS_CONFORMANCE_FOLLOWER_H_
