#include "client/column_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "client/batch_builder.h"
#include "tests/client/decode.h"

namespace casement::client {
namespace {

using ::testing::ElementsAre;

ColumnBuilder::Fields Fields() {
  ColumnBuilder::Fields fields;
  const std::pair<const char*, v1::FieldType> specs[] = {
      {"i", v1::FIELD_TYPE_INT64},
      {"d", v1::FIELD_TYPE_DOUBLE},
      {"b", v1::FIELD_TYPE_BOOL},
      {"s", v1::FIELD_TYPE_STRING},
      {"y", v1::FIELD_TYPE_BYTES}};
  for (const auto& [name, type] : specs) {
    v1::FieldSpec& field = *fields.Add();
    field.set_name(name);
    field.set_type(type);
  }
  return fields;
}

DecodedEvent AsDecoded(const Event& event) {
  DecodedEvent decoded;
  decoded.time_us = event.time_us();
  decoded.id = event.id();
  for (const auto& [name, value] : event.fields()) {
    if (!std::holds_alternative<std::monostate>(value)) {
      decoded.fields[name] = value;
    }
  }
  return decoded;
}

std::vector<Event> AllKinds() {
  std::vector<Event> events;
  for (int i = 0; i < 20; ++i) {
    Event event = i % 7 == 3 ? Event() : Event::AtMicros(1000 - i * i);
    if (i % 2 == 0) event.Set("i", i * 1000 - 5000);
    if (i % 3 == 0) event.Set("d", i / 4.0);
    if (i % 4 != 1) event.Set("b", i % 5 == 0);
    if (i % 5 != 2)
      event.Set("s", i % 3 == 0 ? "" : "text" + std::to_string(i % 4));
    if (i > 12) event.Set("y", Bytes{std::string("\0\xFF", 2)});
    if (i % 6 == 0) event.SetId("id" + std::to_string(i));
    events.push_back(event);
  }
  return events;
}

TEST(ColumnBuilderTest, SaysWhatTheRowsSaid) {
  ColumnBuilder builder(Fields());
  std::vector<DecodedEvent> expected;
  for (const Event& event : AllKinds()) {
    ASSERT_TRUE(builder.AddRow(event).ok());
    expected.push_back(AsDecoded(event));
  }
  EXPECT_EQ(builder.rows(), 20);
  const int64_t bound = builder.bytes();
  const v1::ColumnBatch batch = builder.Take();
  EXPECT_EQ(Decode(batch), expected);
  EXPECT_LE(static_cast<int64_t>(batch.ByteSizeLong()), bound);
  // And so it does the second time.
  EXPECT_EQ(builder.rows(), 0);
  for (const Event& event : AllKinds()) ASSERT_TRUE(builder.AddRow(event).ok());
  EXPECT_EQ(Decode(builder.Take()), expected);
}

TEST(ColumnBuilderTest, EveryColumnHasOneSlotARow) {
  ColumnBuilder builder(Fields());
  ASSERT_TRUE(builder.AddRow(Event::AtMicros(0)).ok());
  ASSERT_TRUE(builder.AddRow(Event::AtMicros(0).Set("i", 1)).ok());
  ASSERT_TRUE(builder.AddRow(Event::AtMicros(0).Set("s", "x")).ok());
  const v1::ColumnBatch batch = builder.Take();
  ASSERT_EQ(batch.columns_size(), 2);  // None for what no row has.
  EXPECT_THAT(batch.columns(0).int64s().values(), ElementsAre(0, 1, 0));
  EXPECT_EQ(batch.columns(0).nulls(), std::string("\x05"));
  EXPECT_THAT(batch.columns(1).symbols().indices(), ElementsAre(0, 0, 1));
  EXPECT_THAT(batch.symbols(), ElementsAre("", "x"));
}

TEST(ColumnBuilderTest, WithoutNullsThereAreNoNullBits) {
  ColumnBuilder builder(Fields());
  ASSERT_TRUE(builder.AddRow(Event::AtMicros(5).Set("i", 1)).ok());
  const v1::ColumnBatch batch = builder.Take();
  EXPECT_EQ(batch.columns(0).nulls(), "");
  EXPECT_EQ(batch.time_nulls(), "");
}

TEST(ColumnBuilderTest, RefusesWhatAColumnCantSayAndAddsNothing) {
  ColumnBuilder builder(Fields());
  ASSERT_TRUE(builder.AddRow(Event::AtMicros(0).Set("i", 1)).ok());
  EXPECT_FALSE(builder.AddRow(Event::AtMicros(0).Set("i", 1.5)).ok());
  EXPECT_FALSE(builder.AddRow(Event::AtMicros(0).Set("none", 1)).ok());
  EXPECT_EQ(builder.rows(), 1);
  EXPECT_EQ(Decode(builder.Take()).size(), 1);
}

TEST(ColumnBuilderTest, TimesTooFarApartDoNotOverflow) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  ColumnBuilder builder(Fields());
  ASSERT_TRUE(builder.AddRow(Event::AtMicros(kMost)).ok());
  EXPECT_FALSE(builder.AddRow(Event::AtMicros(-2)).ok());
  ASSERT_TRUE(builder.AddRow(Event::AtMicros(0)).ok());
  ASSERT_TRUE(builder.AddRow(Event::AtMicros(-kMost)).ok());
  const std::vector<DecodedEvent> events = Decode(builder.Take());
  EXPECT_EQ(events[0].time_us, kMost);
  EXPECT_EQ(events[1].time_us, 0);
  EXPECT_EQ(events[2].time_us, -kMost);
}

TEST(ColumnBuilderTest, TakesTypedRowsByNumber) {
  ColumnBuilder builder(Fields());
  EXPECT_EQ(builder.Find("none"), std::nullopt);
  ASSERT_TRUE(builder.BeginRow(7));
  builder.SetInt64(*builder.Find("i"), 3);
  builder.SetString(*builder.Find("s"), "x");
  ASSERT_TRUE(builder.BeginRow(std::nullopt));
  builder.SetBool(*builder.Find("b"), true);
  const std::vector<DecodedEvent> events = Decode(builder.Take());
  ASSERT_EQ(events.size(), 2);
  EXPECT_EQ(events[0].time_us, 7);
  EXPECT_EQ(events[0].fields.size(), 2);
  EXPECT_EQ(events[0].fields.at("s"), Value("x"));
  EXPECT_EQ(events[1].time_us, std::nullopt);
  EXPECT_EQ(events[1].fields.at("b"), Value(true));
}

// --- Batches ---

class BatchBuilderTest : public ::testing::Test {
 protected:
  // Cuts where it has to, as a producer does.
  absl::Status Add(BatchBuilder& builder, const Event& event,
                   const std::string& position = "") {
    const absl::StatusOr<bool> needs_cut = builder.NeedsCut(event);
    if (!needs_cut.ok()) return needs_cut.status();
    if (*needs_cut) batches_.push_back(builder.Take());
    builder.Add(event, position);
    return absl::OkStatus();
  }

  static BatchLimits Limits(int64_t events) {
    BatchLimits limits;
    limits.events = events;
    return limits;
  }

  static Event Number(int i) { return Event::AtMicros(i).Set("i", i); }

  std::vector<BuiltBatch> batches_;
};

TEST_F(BatchBuilderTest, CutsAtTheMostEvents) {
  BatchBuilder builder(Fields(), BatchForm::kColumns, Limits(2));
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(Add(builder, Number(i).SetTag(i), std::to_string(i)).ok());
  }
  ASSERT_EQ(batches_.size(), 2);
  EXPECT_EQ(batches_[1].events, 2);
  EXPECT_THAT(batches_[1].tags, ElementsAre(2, 3));
  EXPECT_EQ(batches_[1].batch.source_position(), "3");
  EXPECT_EQ(builder.Take().batch.source_position(), "4");
}

TEST_F(BatchBuilderTest, NoBatchIsLargerThanAllowed) {
  for (const BatchForm form : {BatchForm::kColumns, BatchForm::kRows}) {
    BatchLimits limits = Limits(1'000'000);
    limits.column_bytes = limits.row_bytes = 10'000;
    BatchBuilder builder(Fields(), form, limits);
    batches_.clear();
    for (int i = 0; i < 2000; ++i) {
      ASSERT_TRUE(Add(builder, Number(i)
                                   .Set("s", std::string(i % 50, 'x'))
                                   .Set("y", Bytes{std::string(i % 30, 'y')}))
                      .ok());
    }
    EXPECT_GT(batches_.size(), 5);
    for (const BuiltBatch& built : batches_) {
      EXPECT_LE(built.batch.ByteSizeLong(), 10'000);
    }
  }
}

TEST_F(BatchBuilderTest, AnEventLargerThanABatchIsRefused) {
  BatchLimits limits = Limits(10);
  limits.column_bytes = 10'000;
  BatchBuilder builder(Fields(), BatchForm::kColumns, limits);
  EXPECT_TRUE(absl::IsInvalidArgument(
      Add(builder, Event::AtMicros(0).Set("s", std::string(20'000, 'x')))));
  EXPECT_EQ(builder.events(), 0);
}

TEST_F(BatchBuilderTest, WhatColumnsCantSayGoesInRowsAndOrderIsKept) {
  BatchBuilder builder(Fields(), BatchForm::kColumns, Limits(3));
  ASSERT_TRUE(Add(builder, Number(0)).ok());
  ASSERT_TRUE(Add(builder, Event::AtMicros(1).Set("i", "one")).ok());
  for (int i = 2; i < 6; ++i) ASSERT_TRUE(Add(builder, Number(i)).ok());
  batches_.push_back(builder.Take());
  ASSERT_EQ(batches_.size(), 3);
  EXPECT_TRUE(batches_[0].batch.has_columns());
  // The odd one takes those after it along, until its batch is full.
  EXPECT_TRUE(batches_[1].batch.has_rows());
  EXPECT_EQ(batches_[1].events, 3);
  EXPECT_TRUE(batches_[2].batch.has_columns());
  int64_t time = 0;
  for (const BuiltBatch& built : batches_) {
    for (const DecodedEvent& event : Decode(built.batch)) {
      EXPECT_EQ(event.time_us, time++);
    }
  }
  EXPECT_EQ(time, 6);
}

TEST_F(BatchBuilderTest, TextThatIsNotUtf8GoesInColumns) {
  BatchBuilder builder(Fields(), BatchForm::kRows, Limits(10));
  ASSERT_TRUE(Add(builder, Number(0)).ok());
  ASSERT_TRUE(Add(builder, Event::AtMicros(1).Set("s", "\xC0\x80")).ok());
  ASSERT_TRUE(Add(builder, Number(2)).ok());
  batches_.push_back(builder.Take());
  ASSERT_EQ(batches_.size(), 3);
  EXPECT_TRUE(batches_[0].batch.has_rows());
  EXPECT_TRUE(batches_[1].batch.has_columns());
  EXPECT_TRUE(batches_[2].batch.has_rows());
}

}  // namespace
}  // namespace casement::client
