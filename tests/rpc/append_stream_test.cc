// AppendStream over a real connection, with a runtime in the test's hands.
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "server/engine/error.h"
#include "tests/rpc/fake_runtime.h"
#include "tests/rpc/server_fixture.h"
#include "tests/rpc/status_test_util.h"

namespace casement::rpc {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Pair;
using v1::AppendStreamRequest;
using v1::AppendStreamResponse;

AppendStreamRequest OpenRequest(int64_t epoch = 1) {
  AppendStreamRequest request;
  request.mutable_open()->set_producer("streams/s/producers/p");
  request.mutable_open()->set_epoch(epoch);
  return request;
}

AppendStreamRequest BatchRequest(int64_t sequence) {
  AppendStreamRequest request;
  request.mutable_batch()->set_sequence(sequence);
  request.mutable_batch()->mutable_watermark_time();
  return request;
}

AppendStreamRequest CloseRequest(int64_t last_sequence) {
  AppendStreamRequest request;
  request.mutable_close()->set_last_sequence(last_sequence);
  return request;
}

class AppendStreamTest : public testing::Test {
 protected:
  AppendStreamTest() {
    runtime_.producer.id = "p";
    runtime_.producer.epoch = 1;
    runtime_.producer.last_sequence = 4;
    server_.server().Serve(&runtime_);
    Connect();
  }

  void Connect() {
    context_ = NewContext();
    stream_ = server_.ingest->AppendStream(context_.get());
  }
  void Open() {
    EXPECT_TRUE(stream_->Write(OpenRequest()));
    const AppendStreamResponse response = Read();
    ASSERT_TRUE(response.has_opened()) << response.DebugString();
    EXPECT_EQ(response.opened().last_sequence(), 4);
    EXPECT_EQ(response.opened().limits().max_in_flight_batches(), 64);
    EXPECT_EQ(response.opened().limits().max_batch_events(), 65536);
  }
  void Send(int64_t sequence) {
    EXPECT_TRUE(stream_->Write(BatchRequest(sequence)));
  }
  AppendStreamResponse Read() {
    AppendStreamResponse response;
    EXPECT_TRUE(stream_->Read(&response));
    return response;
  }
  // Reads until this sequence is acknowledged.
  void ReadThrough(int64_t sequence) {
    AppendStreamResponse response;
    while (response.committed().through_sequence() < sequence) {
      ASSERT_TRUE(stream_->Read(&response));
      ASSERT_TRUE(response.has_committed()) << response.DebugString();
    }
    EXPECT_EQ(response.committed().through_sequence(), sequence);
  }
  // Nothing more comes; the end.
  grpc::Status End() {
    AppendStreamResponse response;
    EXPECT_FALSE(stream_->Read(&response)) << response.DebugString();
    return stream_->Finish();
  }

  // The runtime outlives the server.
  FakeRuntime runtime_;
  TestServer server_;
  std::unique_ptr<grpc::ClientContext> context_;
  std::unique_ptr<
      grpc::ClientReaderWriter<AppendStreamRequest, AppendStreamResponse>>
      stream_;
};

TEST_F(AppendStreamTest, EndsWithOkOnceTheLastBatchIsDurable) {
  Open();
  Send(5);
  Send(6);
  ASSERT_TRUE(runtime_.WaitForAppends(2));
  runtime_.Commit(0);
  ReadThrough(5);
  EXPECT_TRUE(stream_->Write(CloseRequest(6)));
  EXPECT_TRUE(stream_->WritesDone());
  runtime_.Commit(1);
  ReadThrough(6);
  EXPECT_TRUE(End().ok());
}

TEST_F(AppendStreamTest, ACloseOfWhatIsDurableAlreadyIsOk) {
  Open();
  EXPECT_TRUE(stream_->Write(CloseRequest(4)));
  EXPECT_TRUE(End().ok());
}

TEST_F(AppendStreamTest, ACloseBeyondWhatIsDurableIsNotOk) {
  Open();
  EXPECT_TRUE(stream_->Write(CloseRequest(5)));
  const grpc::Status status = End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(ReasonOf(status), "NOT_CLOSED");
  EXPECT_THAT(MetadataOf(status), Contains(Pair("committed_sequence", "4")));
}

TEST_F(AppendStreamTest, AHalfCloseIsNoClose) {
  Open();
  Send(5);
  EXPECT_TRUE(stream_->WritesDone());
  ASSERT_TRUE(runtime_.WaitForAppends(1));
  runtime_.Commit(0);
  ReadThrough(5);
  const grpc::Status status = End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(ReasonOf(status), "NOT_CLOSED");
  EXPECT_THAT(MetadataOf(status), Contains(Pair("committed_sequence", "5")));
}

TEST_F(AppendStreamTest, ARequestThatDoesNotParseIsNotTakenForAClose) {
  grpc::GenericStub stub(server_.channel());
  grpc::CompletionQueue queue;
  const auto context = NewContext();
  auto call = stub.PrepareCall(
      context.get(), "/casement.v1.IngestService/AppendStream", &queue);
  const auto wait = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    return ok;
  };
  call->StartCall(nullptr);
  ASSERT_TRUE(wait());
  for (const std::string& bytes :
       {OpenRequest().SerializeAsString(), std::string("\xFF\xFF\xFF\xFF")}) {
    const grpc::Slice slice(bytes);
    call->Write(grpc::ByteBuffer(&slice, 1), nullptr);
    ASSERT_TRUE(wait());
  }
  grpc::ByteBuffer opened;
  call->Read(&opened, nullptr);
  ASSERT_TRUE(wait());
  grpc::Status status;
  call->Finish(&status, nullptr);
  ASSERT_TRUE(wait());
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(ReasonOf(status), "NOT_CLOSED");
}

TEST_F(AppendStreamTest, OpenComesFirst) {
  Send(5);
  EXPECT_THAT(FieldsOf(End()), ElementsAre("open"));
}

TEST_F(AppendStreamTest, OpenComesOnce) {
  Open();
  EXPECT_TRUE(stream_->Write(OpenRequest()));
  EXPECT_THAT(FieldsOf(End()), ElementsAre("open"));
}

TEST_F(AppendStreamTest, AnEmptyRequestIsInvalid) {
  Open();
  EXPECT_TRUE(stream_->Write(AppendStreamRequest()));
  EXPECT_THAT(FieldsOf(End()), ElementsAre("request"));
}

TEST_F(AppendStreamTest, WhatIsWrongWithOpenIsNamed) {
  std::vector<std::pair<AppendStreamRequest, std::string>> cases;
  AppendStreamRequest request = OpenRequest();
  request.mutable_open()->set_producer("streams/s");
  cases.emplace_back(request, "open.producer");
  cases.emplace_back(OpenRequest(0), "open.epoch");
  request = OpenRequest();
  request.mutable_open()->set_durability(static_cast<v1::Durability>(9));
  cases.emplace_back(request, "open.durability");
  request = OpenRequest();
  request.mutable_open()->set_report(static_cast<v1::Report>(9));
  cases.emplace_back(request, "open.report");
  for (const auto& [wrong, field] : cases) {
    Connect();
    EXPECT_TRUE(stream_->Write(wrong));
    EXPECT_THAT(FieldsOf(End()), ElementsAre(field));
  }
}

TEST_F(AppendStreamTest, AnotherEpochIsFenced) {
  EXPECT_TRUE(stream_->Write(OpenRequest(2)));
  const grpc::Status status = End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ReasonOf(status), "PRODUCER_FENCED");
  EXPECT_THAT(MetadataOf(status), Contains(Pair("current_epoch", "1")));
}

TEST_F(AppendStreamTest, AnUnknownStreamIsNotFound) {
  AppendStreamRequest request = OpenRequest();
  request.mutable_open()->set_producer("streams/other/producers/p");
  EXPECT_TRUE(stream_->Write(request));
  EXPECT_EQ(End().error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(AppendStreamTest, AFailedBatchBlocksUntilItIsSentRight) {
  Open();
  AppendStreamRequest malformed;
  malformed.mutable_batch()->set_sequence(5);
  EXPECT_TRUE(stream_->Write(malformed));
  AppendStreamResponse response = Read();
  EXPECT_EQ(response.failed().sequence(), 5);
  EXPECT_EQ(response.failed().status().code(), 3);
  EXPECT_EQ(support::ReasonOf(response.failed().status()), "MALFORMED_BATCH");
  Send(6);  // dropped
  Send(5);
  Send(6);
  ASSERT_TRUE(runtime_.WaitForAppends(2));
  EXPECT_EQ(runtime_.SequenceOf(0), 5);
  EXPECT_EQ(runtime_.SequenceOf(1), 6);
  runtime_.Commit(0);
  runtime_.Commit(1);
  ReadThrough(6);
  EXPECT_TRUE(stream_->Write(CloseRequest(6)));
  EXPECT_TRUE(End().ok());
}

TEST_F(AppendStreamTest, AStreamIsNotClosedOverAFailedBatch) {
  Open();
  AppendStreamRequest malformed;
  malformed.mutable_batch()->set_sequence(5);
  EXPECT_TRUE(stream_->Write(malformed));
  EXPECT_TRUE(Read().has_failed());
  EXPECT_TRUE(stream_->Write(CloseRequest(5)));
  EXPECT_EQ(ReasonOf(End()), "NOT_CLOSED");
}

TEST_F(AppendStreamTest, ABatchWithoutANumberEndsTheCall) {
  Open();
  Send(0);
  EXPECT_THAT(FieldsOf(End()), ElementsAre("batch.sequence"));
}

TEST_F(AppendStreamTest, WhatNothingCanMendEndsTheCallAfterTheAcks) {
  Open();
  Send(5);
  Send(6);
  ASSERT_TRUE(runtime_.WaitForAppends(2));
  runtime_.Answer(1, engine::MakeError(absl::StatusCode::kFailedPrecondition,
                                       engine::kProducerFenced, "fenced"));
  runtime_.Commit(0);
  ReadThrough(5);
  EXPECT_EQ(ReasonOf(End()), "PRODUCER_FENCED");
}

TEST_F(AppendStreamTest, AtMostSixtyFourAreInFlight) {
  constexpr int kBatches = 300;
  runtime_.most_in_flight = 64;  // checked at every append
  Open();
  std::thread sender([this] {
    for (int i = 0; i < kBatches; ++i) Send(5 + i);
    EXPECT_TRUE(stream_->Write(CloseRequest(4 + kBatches)));
  });
  ASSERT_TRUE(runtime_.WaitForAppends(64));
  for (int i = 0; i < kBatches; ++i) {
    ASSERT_TRUE(runtime_.WaitForAppends(i + 1));
    EXPECT_EQ(runtime_.SequenceOf(i), 5 + i);
    runtime_.Commit(i);
  }
  ReadThrough(4 + kBatches);
  EXPECT_TRUE(End().ok());
  sender.join();
}

TEST_F(AppendStreamTest, ADrainAcknowledgesWhatIsCommittedFirst) {
  Open();
  Send(5);
  ASSERT_TRUE(runtime_.WaitForAppends(1));
  std::thread drain(
      [this] { server_.server().Drain(std::chrono::seconds(40)); });
  // A drain that doesn't wait for the answer would end the stream without it.
  runtime_.Commit(0);
  ReadThrough(5);
  const grpc::Status status = End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ReasonOf(status), "DRAINING");
  drain.join();
}

TEST_F(AppendStreamTest, ADrainEndsWithABatchThatIsNeverAnswered) {
  Open();
  Send(5);
  ASSERT_TRUE(runtime_.WaitForAppends(1));
  server_.server().Drain(std::chrono::milliseconds(200));
  EXPECT_FALSE(End().ok());
  // The late answer finds nobody.
  runtime_.Commit(0);
}

TEST_F(AppendStreamTest, AnAnswerAfterACancelFindsNobody) {
  Open();
  Send(5);
  ASSERT_TRUE(runtime_.WaitForAppends(1));
  context_->TryCancel();
  EXPECT_EQ(End().error_code(), grpc::StatusCode::CANCELLED);
  runtime_.Commit(0);
}

TEST_F(AppendStreamTest, ManyStreamsAtOnceAreDrained) {
  constexpr int kStreams = 50;
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<decltype(stream_)> streams;
  for (int i = 0; i < kStreams; ++i) {
    Connect();
    Open();
    contexts.push_back(std::move(context_));
    streams.push_back(std::move(stream_));
  }
  Connect();
  server_.server().Drain(std::chrono::seconds(40));
  for (auto& stream : streams) {
    AppendStreamResponse response;
    EXPECT_FALSE(stream->Read(&response));
    EXPECT_EQ(ReasonOf(stream->Finish()), "DRAINING");
  }
}

}  // namespace
}  // namespace casement::rpc
