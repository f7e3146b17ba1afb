#include "client/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "google/rpc/error_details.pb.h"
#include "tests/client/fake_server.h"

namespace casement::client {
namespace {

using ::testing::HasSubstr;

TEST(StatusTest, NamesTheFieldsThatAreWrong) {
  google::rpc::BadRequest bad;
  auto& violation = *bad.add_field_violations();
  violation.set_field("stream.fields[1].name");
  violation.set_description("must be unique");
  violation.set_reason("DUPLICATE");
  google::rpc::Status proto;
  proto.set_code(grpc::StatusCode::INVALID_ARGUMENT);
  proto.set_message("the stream is not valid");
  proto.add_details()->PackFrom(bad);
  const absl::Status status = FromGrpcStatus(
      grpc::Status(grpc::StatusCode::INVALID_ARGUMENT,
                   "the stream is not valid", proto.SerializeAsString()));
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(std::string(status.message()),
            "the stream is not valid; stream.fields[1].name: must be unique");
  ASSERT_EQ(GetErrorDetails(status).violations.size(), 1);
  EXPECT_EQ(GetErrorDetails(status).violations[0].reason, "DUPLICATE");
}

TEST(StatusTest, KeepsReasonAndMetadata) {
  const absl::Status status =
      FromGrpcStatus(ServiceError(grpc::StatusCode::ABORTED, "SEQUENCE_GAP",
                                  "a gap", {{"expected_sequence", "4"}}));
  EXPECT_EQ(ErrorReason(status), "SEQUENCE_GAP");
  EXPECT_EQ(GetErrorDetails(status).metadata.at("expected_sequence"), "4");
}

TEST(StatusTest, TellsHowLongToWait) {
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_nanos(250'000'000);
  google::rpc::Status proto;
  proto.set_code(grpc::StatusCode::RESOURCE_EXHAUSTED);
  proto.add_details()->PackFrom(retry);
  const absl::Status status = FromRpcStatus(proto);
  EXPECT_EQ(GetErrorDetails(status).retry_delay, absl::Milliseconds(250));
  EXPECT_TRUE(IsTransient(status));
}

TEST(StatusTest, OnlyTheWayToTheServerIsTransient) {
  using grpc::StatusCode;
  const auto transport = [](StatusCode code) {
    return IsTransient(FromGrpcStatus(grpc::Status(code, "broken")));
  };
  EXPECT_TRUE(transport(StatusCode::UNAVAILABLE));
  EXPECT_TRUE(transport(StatusCode::INTERNAL));
  EXPECT_TRUE(transport(StatusCode::UNKNOWN));
  EXPECT_FALSE(transport(StatusCode::INVALID_ARGUMENT));
  EXPECT_FALSE(transport(StatusCode::UNIMPLEMENTED));
  EXPECT_FALSE(transport(StatusCode::RESOURCE_EXHAUSTED));
  EXPECT_FALSE(IsTransient(FromGrpcStatus(
      ServiceError(StatusCode::INTERNAL, "STORE_CORRUPT", "no"))));
  EXPECT_TRUE(IsTransient(FromGrpcStatus(
      ServiceError(StatusCode::UNAVAILABLE, "DRAINING", "later"))));
}

TEST(StatusTest, AlwaysSaysSomething) {
  EXPECT_THAT(std::string(FromGrpcStatus(
                              grpc::Status(grpc::StatusCode::UNIMPLEMENTED, ""))
                              .message()),
              HasSubstr("could not read the request"));
  EXPECT_TRUE(FromGrpcStatus(grpc::Status::OK).ok());
}

TEST(StatusTest, DetailsThatDoNotParseAreLeftOut) {
  const absl::Status status = FromGrpcStatus(
      grpc::Status(grpc::StatusCode::NOT_FOUND, "gone", "\xFF\xFF"));
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_EQ(std::string(status.message()), "gone");
}

}  // namespace
}  // namespace casement::client
