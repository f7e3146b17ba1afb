// A server on a free port over a runtime of the test's choice, and a channel to
// it.
#ifndef CASEMENT_TESTS_RPC_SERVER_FIXTURE_H_
#define CASEMENT_TESTS_RPC_SERVER_FIXTURE_H_

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "casement/v1/admin.grpc.pb.h"
#include "casement/v1/definition.grpc.pb.h"
#include "casement/v1/ingest.grpc.pb.h"
#include "casement/v1/result.grpc.pb.h"
#include "casement/v1/test.grpc.pb.h"
#include "server/rpc/server.h"
#include "tests/support/server_process.h"

namespace casement::rpc {

class TestServer {
 public:
  explicit TestServer(runtime::ManualClock* clock = nullptr) {
    RpcServerOptions options;
    options.test_clock = clock;
    auto started = RpcServer::Start(options);
    EXPECT_TRUE(started.ok()) << started.status();
    server_ = *std::move(started);
    channel_ =
        support::NewTestChannel(absl::StrCat("127.0.0.1:", server_->port()));
    definitions = v1::DefinitionService::NewStub(channel_);
    ingest = v1::IngestService::NewStub(channel_);
    results = v1::ResultService::NewStub(channel_);
    admin = v1::AdminService::NewStub(channel_);
    test = v1::TestService::NewStub(channel_);
  }

  RpcServer& server() { return *server_; }
  std::shared_ptr<grpc::Channel> channel() { return channel_; }

  std::unique_ptr<v1::DefinitionService::Stub> definitions;
  std::unique_ptr<v1::IngestService::Stub> ingest;
  std::unique_ptr<v1::ResultService::Stub> results;
  std::unique_ptr<v1::AdminService::Stub> admin;
  std::unique_ptr<v1::TestService::Stub> test;

 private:
  std::unique_ptr<RpcServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

// A call that fails the test rather than hang it.
inline std::unique_ptr<grpc::ClientContext> NewContext() {
  auto context = std::make_unique<grpc::ClientContext>();
  context->set_wait_for_ready(true);
  context->set_deadline(std::chrono::system_clock::now() +
                        std::chrono::seconds(60));
  return context;
}

// A unary call of raw bytes, for services whose protos are not at hand and for
// what no proto would send.
inline grpc::Status CallRaw(const std::shared_ptr<grpc::Channel>& channel,
                            const std::string& method,
                            const std::string& request, std::string* response) {
  grpc::GenericStub stub(channel);
  grpc::CompletionQueue queue;
  const auto context = NewContext();
  const grpc::Slice slice(request);
  const grpc::ByteBuffer buffer(&slice, 1);
  grpc::ByteBuffer answer;
  grpc::Status status;
  auto call = stub.PrepareUnaryCall(context.get(), method, buffer, &queue);
  call->StartCall();
  call->Finish(&answer, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  std::vector<grpc::Slice> slices;
  if (status.ok() && answer.Dump(&slices).ok()) {
    for (const grpc::Slice& part : slices) {
      response->append(reinterpret_cast<const char*>(part.begin()),
                       part.size());
    }
  }
  return status;
}

// Whether the health service calls a service SERVING.
inline bool IsHealthy(const std::shared_ptr<grpc::Channel>& channel,
                      const std::string& service) {
  std::string request;
  if (!service.empty()) {
    request = absl::StrCat("\x0A", std::string(1, service.size()), service);
  }
  std::string response;
  const grpc::Status status =
      CallRaw(channel, "/grpc.health.v1.Health/Check", request, &response);
  EXPECT_TRUE(status.ok()) << service << status.error_message();
  return response == "\x08\x01";
}

}  // namespace casement::rpc

#endif  // CASEMENT_TESTS_RPC_SERVER_FIXTURE_H_
