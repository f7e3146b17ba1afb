// A server in the test's own process that keeps the promises that the client
// relies on (sequences, repeats, epochs, cursors) and breaks connections where
// a test says so. What it holds survives Stop and Start, as a disk would.

#ifndef CASEMENT_TESTS_CLIENT_FAKE_SERVER_H_
#define CASEMENT_TESTS_CLIENT_FAKE_SERVER_H_

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "casement/v1/admin.grpc.pb.h"
#include "casement/v1/definition.grpc.pb.h"
#include "casement/v1/ingest.grpc.pb.h"
#include "casement/v1/result.grpc.pb.h"
#include "tests/client/decode.h"

namespace casement::client {

// An error of the service's own, with its reason.
grpc::Status ServiceError(
    grpc::StatusCode code, const std::string& reason,
    const std::string& message,
    const std::map<std::string, std::string>& metadata = {});

class FakeIngest : public v1::IngestService::Service {
 public:
  // What the fake knows of a producer.
  struct State {
    int64_t epoch = 0;
    int64_t last_sequence = 0;
    std::string position;
    std::map<int64_t, v1::BatchAck> answers;
    std::vector<v1::Batch> batches;
    int64_t accepted = 0;
  };

  // All events of a producer, in order, each as often as it was counted.
  std::vector<DecodedEvent> Events(const std::string& producer);
  State Get(const std::string& producer);
  void Set(const std::string& producer, const State& state);
  // The last sequence of a Close, or -1.
  int64_t closed_at();
  // Another program opens the producer.
  void Fence(const std::string& producer);

  v1::IngestLimits limits;
  // Called for each batch before it is taken. OK: take it. Else it is Failed.
  std::function<grpc::Status(const v1::Batch&)> judge;
  // After taking so many batches (over all calls), break the call before
  // anything is answered; several breaks in turn.
  std::vector<int> break_after;
  // So many OpenProducer calls take effect, but their answers are lost.
  int lose_open_answers = 0;
  // Called when an OpenProducer's answer is lost.
  std::function<void(State*)> on_lost_open;
  // Hold back acknowledgements until Close, but for the most in flight.
  bool lazy_acks = false;
  // With a Failed: the retry delay, if not zero.
  int retry_delay_ms = 0;
  // Wait with reading while true.
  std::function<bool()> paused;

  grpc::Status OpenProducer(grpc::ServerContext*,
                            const v1::OpenProducerRequest*,
                            v1::OpenProducerResponse*) override;
  grpc::Status GetProducer(grpc::ServerContext*, const v1::GetProducerRequest*,
                           v1::Producer*) override;
  grpc::Status AppendStream(
      grpc::ServerContext*,
      grpc::ServerReaderWriter<v1::AppendStreamResponse,
                               v1::AppendStreamRequest>*) override;

 private:
  grpc::Status Take(const v1::Batch& batch, State* state, v1::BatchAck* ack);
  bool BreakNow();

  std::mutex mutex_;
  std::map<std::string, State> producers_;
  int taken_ = 0;
  int64_t closed_at_ = -1;
};

class FakeDefinitions : public v1::DefinitionService::Service {
 public:
  std::map<std::string, v1::Stream> streams;
  std::map<std::string, v1::View> views;
  std::vector<std::string> ended;

  grpc::Status CreateStream(grpc::ServerContext*,
                            const v1::CreateStreamRequest*,
                            v1::Stream*) override;
  grpc::Status GetStream(grpc::ServerContext*, const v1::GetStreamRequest*,
                         v1::Stream*) override;
  grpc::Status ListStreams(grpc::ServerContext*, const v1::ListStreamsRequest*,
                           v1::ListStreamsResponse*) override;
  grpc::Status EndStream(grpc::ServerContext*, const v1::EndStreamRequest*,
                         v1::Stream*) override;
  grpc::Status CreateView(grpc::ServerContext*, const v1::CreateViewRequest*,
                          v1::View*) override;
  grpc::Status GetView(grpc::ServerContext*, const v1::GetViewRequest*,
                       v1::View*) override;

 private:
  std::mutex mutex_;
};

class FakeResults : public v1::ResultService::Service {
 public:
  // The log. A cursor is the number of results before it.
  std::vector<v1::WindowResult> log;
  int results_per_response = 1;
  bool ended = false;
  // After so many responses with results (over all calls), break the call;
  // several breaks in turn.
  std::vector<int> break_after;
  std::vector<v1::SubscribeRequest> requests;

  // Ends calls that wait.
  void Stop();

  grpc::Status Subscribe(grpc::ServerContext*, const v1::SubscribeRequest*,
                         grpc::ServerWriter<v1::SubscribeResponse>*) override;
  grpc::Status ListWindows(grpc::ServerContext*, const v1::ListWindowsRequest*,
                           v1::ListWindowsResponse*) override;

  std::mutex mutex;

 private:
  int sent_ = 0;
  bool stopped_ = false;
};

class FakeAdmin : public v1::AdminService::Service {
 public:
  v1::Stats stats;
  grpc::Status GetServerInfo(grpc::ServerContext*,
                             const v1::GetServerInfoRequest*,
                             v1::GetServerInfoResponse*) override;
  grpc::Status GetStats(grpc::ServerContext*, const v1::GetStatsRequest*,
                        v1::GetStatsResponse*) override;
};

class FakeServer {
 public:
  // Starts it, with the stream "streams/s" (fields name:string, amount:int64,
  // ratio:double, ok:bool, raw:bytes) and its view "v".
  FakeServer();
  ~FakeServer();

  // On the same port as before.
  void Start();
  // Every call breaks.
  void Stop();

  std::string address() const;
  std::shared_ptr<grpc::Channel> channel() const;

  FakeIngest ingest;
  FakeDefinitions definitions;
  FakeResults results;
  FakeAdmin admin;

 private:
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

}  // namespace casement::client

#endif  // CASEMENT_TESTS_CLIENT_FAKE_SERVER_H_
