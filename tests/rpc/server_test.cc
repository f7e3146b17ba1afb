// The server as a whole: its states, its health, its errors on the wire.
#include "server/rpc/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "server/engine/types.h"
#include "tests/rpc/fake_runtime.h"
#include "tests/rpc/server_fixture.h"
#include "tests/rpc/status_test_util.h"

namespace casement::rpc {
namespace {

using support::Call;

TEST(ServerTest, AnswersRecoveringUntilItHasARuntime) {
  TestServer server;
  v1::GetServerInfoResponse info;
  ASSERT_TRUE(Call(*server.admin, &v1::AdminService::Stub::GetServerInfo,
                   v1::GetServerInfoRequest(), &info)
                  .ok());
  EXPECT_EQ(info.state(), v1::SERVER_STATE_RECOVERING);
  v1::ListStreamsResponse streams;
  const grpc::Status status =
      Call(*server.definitions, &v1::DefinitionService::Stub::ListStreams,
           v1::ListStreamsRequest(), &streams);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ReasonOf(status), "RECOVERING");
  EXPECT_FALSE(IsHealthy(server.channel(), ""));
}

TEST(ServerTest, TellsWhatItIs) {
  FakeRuntime runtime;
  TestServer server;
  server.server().Serve(&runtime);
  v1::GetServerInfoResponse info;
  ASSERT_TRUE(Call(*server.admin, &v1::AdminService::Stub::GetServerInfo,
                   v1::GetServerInfoRequest(), &info)
                  .ok());
  EXPECT_EQ(info.version(), CASEMENT_VERSION);
  EXPECT_EQ(info.store_id(), "fake-store");
  EXPECT_EQ(info.state(), v1::SERVER_STATE_SERVING);
  EXPECT_EQ(info.limits().max_batch_bytes(), 1 << 20);
  EXPECT_EQ(info.limits().max_row_batch_bytes(), 3 << 20);
  EXPECT_THAT(info.features(), testing::Contains("future_hold"));
  EXPECT_EQ(info.features_size(), 18);
  EXPECT_TRUE(info.has_start_time());
}

TEST(ServerTest, HealthFollowsTheRuntime) {
  FakeRuntime runtime;
  TestServer server;
  server.server().Serve(&runtime);
  const char* ingest = "casement.v1.IngestService";
  const char* results = "casement.v1.ResultService";
  EXPECT_TRUE(IsHealthy(server.channel(), ""));
  EXPECT_TRUE(IsHealthy(server.channel(), ingest));
  runtime.SetState(runtime::ServerState::kReadOnly);
  EXPECT_TRUE(IsHealthy(server.channel(), ""));
  EXPECT_TRUE(IsHealthy(server.channel(), results));
  EXPECT_FALSE(IsHealthy(server.channel(), ingest));
  runtime.SetState(runtime::ServerState::kServing);
  EXPECT_TRUE(IsHealthy(server.channel(), ingest));
  server.server().AnnounceDrain();
  for (const char* service : {"", ingest, results, "casement.v1.AdminService",
                              "casement.v1.DefinitionService"}) {
    EXPECT_FALSE(IsHealthy(server.channel(), service)) << service;
  }
}

TEST(ServerTest, ATakenPortIsTold) {
  TestServer server;
  RpcServerOptions options;
  options.address = absl::StrCat("127.0.0.1:", server.server().port());
  const auto second = RpcServer::Start(options);
  ASSERT_FALSE(second.ok());
  EXPECT_TRUE(absl::IsUnavailable(second.status()));
  EXPECT_THAT(std::string(second.status().message()),
              testing::HasSubstr(options.address));
}

TEST(ServerTest, WaitingHelpsIsToldInTheTrailersToo) {
  FakeRuntime runtime;
  TestServer server;
  server.server().Serve(&runtime);
  const auto context = NewContext();
  v1::EndStreamRequest request;
  request.set_name("streams/s");
  v1::Stream response;
  const grpc::Status status =
      server.definitions->EndStream(context.get(), request, &response);
  EXPECT_EQ(ReasonOf(status), "READ_ONLY");
  const auto& trailers = context->GetServerTrailingMetadata();
  const auto pushback = trailers.find("grpc-retry-pushback-ms");
  ASSERT_NE(pushback, trailers.end());
  EXPECT_EQ(std::string(pushback->second.data(), pushback->second.size()),
            "2000");
}

TEST(ServerTest, TheLargestErrorArrivesWhole) {
  // Larger than what a client takes as trailers, were it not cut down.
  FakeRuntime runtime;
  TestServer server;
  server.server().Serve(&runtime);
  v1::CreateStreamRequest request;
  request.set_stream_id("s");
  request.mutable_stream()->mutable_watermark_policy()->mutable_asserted();
  for (int i = 0; i < 200; ++i) {
    request.mutable_stream()->add_fields()->set_name(std::string(1000, 'X') +
                                                     "\xC3\xA4");
  }
  v1::Stream response;
  const grpc::Status status =
      Call(*server.definitions, &v1::DefinitionService::Stub::CreateStream,
           request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(ReasonOf(status), "INVALID_FIELD");
  EXPECT_GE(FieldsOf(status).size(), 3u);
}

TEST(ServerTest, ReflectionIsThere) {
  FakeRuntime runtime;
  TestServer server;
  server.server().Serve(&runtime);
  // Not a unary method, but an unknown one would be UNIMPLEMENTED.
  std::string response;
  const grpc::Status status =
      CallRaw(server.channel(),
              "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
              std::string("\x3A\x01*", 3), &response);
  EXPECT_NE(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_THAT(response, testing::HasSubstr("casement.v1.IngestService"));
}

TEST(ServerTest, TheClockIsThereForTestsOnly) {
  v1::SetClockRequest request;
  request.mutable_time()->set_seconds(5);
  v1::SetClockResponse response;
  {
    TestServer server;
    EXPECT_EQ(
        Call(*server.test, &v1::TestService::Stub::SetClock, request, &response)
            .error_code(),
        grpc::StatusCode::UNIMPLEMENTED);
  }
  runtime::ManualClock clock;
  TestServer server(&clock);
  ASSERT_TRUE(
      Call(*server.test, &v1::TestService::Stub::SetClock, request, &response)
          .ok());
  EXPECT_EQ(clock.Now(), 5'000'000);
  request.mutable_time()->set_nanos(-1);
  EXPECT_THAT(FieldsOf(Call(*server.test, &v1::TestService::Stub::SetClock,
                            request, &response)),
              testing::ElementsAre("time"));
  EXPECT_EQ(clock.Now(), 5'000'000);
  request.clear_time();
  ASSERT_TRUE(
      Call(*server.test, &v1::TestService::Stub::SetClock, request, &response)
          .ok());
  EXPECT_FALSE(clock.Now().has_value());
}

// The engine's numbers are cast to the wire's.
TEST(WireNumbersTest, AgreeWithTheEngines) {
  EXPECT_EQ(static_cast<int>(engine::FieldType::kInt64), v1::FIELD_TYPE_INT64);
  EXPECT_EQ(static_cast<int>(engine::FieldType::kDouble),
            v1::FIELD_TYPE_DOUBLE);
  EXPECT_EQ(static_cast<int>(engine::FieldType::kBool), v1::FIELD_TYPE_BOOL);
  EXPECT_EQ(static_cast<int>(engine::FieldType::kString),
            v1::FIELD_TYPE_STRING);
  EXPECT_EQ(static_cast<int>(engine::FieldType::kBytes), v1::FIELD_TYPE_BYTES);
  EXPECT_EQ(static_cast<int>(engine::Finality::kProvisional),
            v1::FINALITY_PROVISIONAL);
  EXPECT_EQ(static_cast<int>(engine::Finality::kFinal), v1::FINALITY_FINAL);
  EXPECT_EQ(static_cast<int>(engine::Finality::kCorrected),
            v1::FINALITY_CORRECTED);
  EXPECT_EQ(static_cast<int>(engine::Finality::kRetracted),
            v1::FINALITY_RETRACTED);
  EXPECT_EQ(static_cast<int>(engine::Timing::kEarly), v1::TIMING_EARLY);
  EXPECT_EQ(static_cast<int>(engine::Timing::kOnTime), v1::TIMING_ON_TIME);
  EXPECT_EQ(static_cast<int>(engine::Timing::kLate), v1::TIMING_LATE);
  EXPECT_EQ(static_cast<int>(engine::EmitReason::kEarlyTrigger),
            v1::EMIT_REASON_EARLY_TRIGGER);
  EXPECT_EQ(static_cast<int>(engine::EmitReason::kWatermark),
            v1::EMIT_REASON_WATERMARK);
  EXPECT_EQ(static_cast<int>(engine::EmitReason::kLateEvents),
            v1::EMIT_REASON_LATE_EVENTS);
  EXPECT_EQ(static_cast<int>(engine::EmitReason::kSessionMerge),
            v1::EMIT_REASON_SESSION_MERGE);
  EXPECT_EQ(static_cast<int>(engine::SourceState::kActive),
            v1::SOURCE_STATE_ACTIVE);
  EXPECT_EQ(static_cast<int>(engine::SourceState::kIdle),
            v1::SOURCE_STATE_IDLE);
  EXPECT_EQ(static_cast<int>(engine::SourceState::kDone),
            v1::SOURCE_STATE_DONE);
  EXPECT_EQ(static_cast<int>(engine::Function::kCount),
            v1::AggregateSpec::FUNCTION_COUNT);
  EXPECT_EQ(static_cast<int>(engine::Function::kSum),
            v1::AggregateSpec::FUNCTION_SUM);
  EXPECT_EQ(static_cast<int>(engine::Function::kMin),
            v1::AggregateSpec::FUNCTION_MIN);
  EXPECT_EQ(static_cast<int>(engine::Function::kMax),
            v1::AggregateSpec::FUNCTION_MAX);
  EXPECT_EQ(static_cast<int>(engine::Function::kMean),
            v1::AggregateSpec::FUNCTION_MEAN);
  EXPECT_EQ(static_cast<int>(engine::Function::kDistinctCount),
            v1::AggregateSpec::FUNCTION_DISTINCT_COUNT);
  const std::pair<engine::RejectReason, v1::RejectReason> reasons[] = {
      {engine::RejectReason::kMissingTime, v1::REJECT_REASON_MISSING_TIME},
      {engine::RejectReason::kTimeOutOfRange,
       v1::REJECT_REASON_TIME_OUT_OF_RANGE},
      {engine::RejectReason::kTooFarAhead, v1::REJECT_REASON_TOO_FAR_AHEAD},
      {engine::RejectReason::kMissingField, v1::REJECT_REASON_MISSING_FIELD},
      {engine::RejectReason::kUnknownField, v1::REJECT_REASON_UNKNOWN_FIELD},
      {engine::RejectReason::kWrongType, v1::REJECT_REASON_WRONG_TYPE},
      {engine::RejectReason::kValueTooLarge, v1::REJECT_REASON_VALUE_TOO_LARGE},
      {engine::RejectReason::kNotUtf8, v1::REJECT_REASON_NOT_UTF8},
      {engine::RejectReason::kInvalidTime, v1::REJECT_REASON_INVALID_TIME},
  };
  for (const auto& [ours, wire] : reasons) {
    EXPECT_EQ(static_cast<int>(ours), static_cast<int>(wire));
  }
  using State = engine::FateInView::State;
  EXPECT_EQ(static_cast<int>(State::kCounted),
            v1::EventFate::InView::STATE_COUNTED);
  EXPECT_EQ(static_cast<int>(State::kLate), v1::EventFate::InView::STATE_LATE);
  EXPECT_EQ(static_cast<int>(State::kUnassigned),
            v1::EventFate::InView::STATE_UNASSIGNED);
  EXPECT_EQ(static_cast<int>(State::kFiltered),
            v1::EventFate::InView::STATE_FILTERED);
}

}  // namespace
}  // namespace casement::rpc
