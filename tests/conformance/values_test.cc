#include "tests/conformance/values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace casement::conformance {
namespace {

FieldValue Value(const char* json, const char* type) {
  return ToFieldValue(Json::parse(json), type);
}

TEST(ValuesTest, IntegersKeepAllTheirDigits) {
  EXPECT_EQ(Value("\"9223372036854775807\"", "int64").value.int64_value(),
            std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Value("\"-9223372036854775808\"", "int64").value.int64_value(),
            std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Value("-2", "int64").value.int64_value(), -2);
  EXPECT_EQ(Value("9223372036854775807", "int64").value.int64_value(),
            std::numeric_limits<int64_t>::max());
}

TEST(ValuesTest, AWholeNumberInADoubleFieldIsADouble) {
  const FieldValue five = Value("5", "double");
  EXPECT_TRUE(five.fits);
  EXPECT_EQ(five.value.kind_case(), v1::Value::kDoubleValue);
  EXPECT_EQ(five.value.double_value(), 5.0);
  EXPECT_TRUE(std::isnan(Value("\"NaN\"", "double").value.double_value()));
  EXPECT_EQ(Value("\"-Infinity\"", "double").value.double_value(),
            -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::signbit(Value("\"-0.0\"", "double").value.double_value()));
}

TEST(ValuesTest, WhatDoesNotFitGoesAsWhatItIs) {
  struct {
    const char* json;
    const char* type;
    v1::Value::KindCase kind;
  } const kWrong[] = {
      {"5.5", "int64", v1::Value::kDoubleValue},
      {"5.0", "int64", v1::Value::kDoubleValue},
      {"\"seven\"", "int64", v1::Value::kStringValue},
      {"\"9223372036854775808\"", "int64", v1::Value::kStringValue},
      {"9223372036854775808", "int64", v1::Value::kStringValue},
      {"true", "int64", v1::Value::kBoolValue},
      {"\"many\"", "double", v1::Value::kStringValue},
      {"\"5\"", "double", v1::Value::kStringValue},
      {"7", "string", v1::Value::kInt64Value},
      {"[]", "string", v1::Value::kBytesValue},
      {"{}", "int64", v1::Value::kBytesValue},
  };
  for (const auto& wrong : kWrong) {
    const FieldValue value = Value(wrong.json, wrong.type);
    EXPECT_FALSE(value.fits) << wrong.json;
    EXPECT_EQ(value.value.kind_case(), wrong.kind) << wrong.json;
  }
}

TEST(ValuesTest, NullFitsEveryField) {
  for (const char* type : {"int64", "double", "string"}) {
    const FieldValue null = Value("null", type);
    EXPECT_TRUE(null.fits);
    EXPECT_EQ(null.value.kind_case(), v1::Value::KIND_NOT_SET);
  }
}

TEST(ValuesTest, AnOverflowIsOneOnlyBeyondInt64) {
  EXPECT_TRUE(
      ParseExpectedValue(Json::parse(R"({"overflow": "9223372036854775808"})"),
                         "int64")
          .ok());
  EXPECT_FALSE(
      ParseExpectedValue(Json::parse(R"({"overflow": "9223372036854775807"})"),
                         "int64")
          .ok());
  EXPECT_FALSE(ParseExpectedValue(Json::parse("{}"), "int64").ok());
}

TEST(ValuesTest, MeansComeAsMeans) {
  v1::AggregateValue mean;
  mean.mutable_mean()->set_value(2.5);
  mean.mutable_mean()->set_count(2);
  mean.mutable_mean()->mutable_sum()->set_int64_value(5);
  absl::StatusOr<AggValue> value = FromAggregateValue(mean, "avg");
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(value->double_value, 2.5);
  EXPECT_FALSE(FromAggregateValue(mean, "sum").ok());
  mean.mutable_mean()->clear_sum();
  EXPECT_FALSE(FromAggregateValue(mean, "avg").ok());
  v1::AggregateValue bare;
  bare.set_double_value(2.5);
  EXPECT_FALSE(FromAggregateValue(bare, "avg").ok());
  EXPECT_TRUE(FromAggregateValue(bare, "sum").ok());
}

}  // namespace
}  // namespace casement::conformance
