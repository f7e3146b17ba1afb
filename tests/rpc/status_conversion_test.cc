#include "server/rpc/status_conversion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "server/engine/error.h"
#include "server/rpc/time_conversion.h"

namespace casement::rpc {
namespace {

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

template <typename Detail>
bool Find(const google::rpc::Status& status, Detail* detail) {
  for (const auto& any : status.details()) {
    if (any.UnpackTo(detail)) return true;
  }
  return false;
}

engine::ErrorDetail FullDetail() {
  engine::ErrorDetail detail;
  detail.reason = engine::kInvalidField;
  detail.metadata = {{"limit", "5"}, {"used", "7"}};
  detail.resource = "streams/s/views/v";
  detail.retry_delay_us = 1'500'000;
  detail.violations = {{"a.b", "is wrong", "WHY"}};
  return detail;
}

TEST(StatusConversionTest, CarriesEveryDetail) {
  const google::rpc::Status status = ToRpcStatus(engine::MakeError(
      absl::StatusCode::kInvalidArgument, "something", FullDetail()));
  EXPECT_EQ(status.code(), 3);
  EXPECT_EQ(status.message(), "something");
  google::rpc::ErrorInfo info;
  ASSERT_TRUE(Find(status, &info));
  EXPECT_EQ(info.reason(), "INVALID_FIELD");
  EXPECT_EQ(info.domain(), "casement");
  EXPECT_THAT(info.metadata(),
              UnorderedElementsAre(Pair("limit", "5"), Pair("used", "7")));
  google::rpc::RetryInfo retry;
  ASSERT_TRUE(Find(status, &retry));
  EXPECT_EQ(retry.retry_delay().seconds(), 1);
  EXPECT_EQ(retry.retry_delay().nanos(), 500'000'000);
  google::rpc::ResourceInfo resource;
  ASSERT_TRUE(Find(status, &resource));
  EXPECT_EQ(resource.resource_type(), "casement.v1.View");
  EXPECT_EQ(resource.resource_name(), "streams/s/views/v");
  google::rpc::BadRequest bad;
  ASSERT_TRUE(Find(status, &bad));
  ASSERT_EQ(bad.field_violations_size(), 1);
  EXPECT_EQ(bad.field_violations(0).field(), "a.b");
  EXPECT_EQ(bad.field_violations(0).description(), "is wrong");
  EXPECT_EQ(bad.field_violations(0).reason(), "WHY");
}

TEST(StatusConversionTest, GrpcStatusHoldsTheSameDetails) {
  const absl::Status status = engine::NoSuchResource("streams/s");
  const grpc::Status grpc_status = ToGrpcStatus(status);
  EXPECT_EQ(grpc_status.error_code(), grpc::StatusCode::NOT_FOUND);
  google::rpc::Status parsed;
  ASSERT_TRUE(parsed.ParseFromString(grpc_status.error_details()));
  EXPECT_EQ(parsed.SerializeAsString(),
            ToRpcStatus(status).SerializeAsString());
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
}

TEST(StatusConversionTest, LeavesOutFromTheEndWhatDoesNotFit) {
  engine::ErrorDetail detail = FullDetail();
  detail.violations.clear();
  for (int i = 0; i < 100; ++i) {
    detail.violations.push_back(
        {absl::StrCat("field", i), std::string(1000, 'x'), ""});
  }
  const google::rpc::Status status = ToRpcStatus(engine::MakeError(
      absl::StatusCode::kInvalidArgument, std::string(5000, 'm'), detail));
  EXPECT_LE(status.ByteSizeLong(), kMaxStatusBytes);
  EXPECT_LE(status.message().size(), kMaxMessageBytes);
  google::rpc::ErrorInfo info;
  EXPECT_TRUE(Find(status, &info));
  google::rpc::BadRequest bad;
  ASSERT_TRUE(Find(status, &bad));
  EXPECT_GT(bad.field_violations_size(), 3);
  EXPECT_LT(bad.field_violations_size(), 16);
  EXPECT_EQ(bad.field_violations(0).field(), "field0");
}

TEST(StatusConversionTest, TellsAtMostSixteenFields) {
  engine::ErrorDetail detail;
  detail.reason = engine::kInvalidField;
  for (int i = 0; i < 40; ++i) {
    detail.violations.push_back({absl::StrCat("f", i), "is wrong", ""});
  }
  const google::rpc::Status status = ToRpcStatus(
      engine::MakeError(absl::StatusCode::kInvalidArgument, "bad", detail));
  google::rpc::BadRequest bad;
  ASSERT_TRUE(Find(status, &bad));
  EXPECT_EQ(bad.field_violations_size(), 16);
}

TEST(StatusConversionTest, EverySizeFits) {
  // Around the bound, also where only the reason is left.
  for (int values = 0; values < 40; ++values) {
    engine::ErrorDetail detail = FullDetail();
    for (int i = 0; i < values; ++i) {
      detail.metadata.emplace_back(absl::StrCat("key", i),
                                   std::string(200, 'v'));
    }
    const google::rpc::Status status = ToRpcStatus(
        engine::MakeError(absl::StatusCode::kAborted, "bad", detail));
    EXPECT_LE(status.ByteSizeLong(), kMaxStatusBytes) << values;
    EXPECT_EQ(status.code(), 10);
  }
}

TEST(StatusConversionTest, WhatIsNotTextBecomesText) {
  engine::ErrorDetail detail;
  detail.reason = engine::kMalformedBatch;
  detail.violations = {{"columns[0]", "is \xFF\xFE", ""}};
  const google::rpc::Status status = ToRpcStatus(engine::MakeError(
      absl::StatusCode::kInvalidArgument, "broken \xC3", detail));
  EXPECT_EQ(status.message(), "broken ?");
  google::rpc::BadRequest bad;
  ASSERT_TRUE(Find(status, &bad));
  EXPECT_EQ(bad.field_violations(0).description(), "is ??");
}

TEST(StatusConversionTest, AStatusMadeElsewhereKeepsItsCode) {
  const google::rpc::Status status = ToRpcStatus(absl::InternalError("a bug"));
  EXPECT_EQ(status.code(), 13);
  EXPECT_EQ(status.message(), "a bug");
  EXPECT_EQ(status.details_size(), 0);
}

}  // namespace
}  // namespace casement::rpc
