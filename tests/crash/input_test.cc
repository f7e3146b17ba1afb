#include "tests/crash/input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/crash/times.h"

namespace casement::stress {
namespace {

constexpr uint64_t kSeed = 7;

TEST(InputTest, ABatchIsAlwaysTheSame) {
  EXPECT_EQ(ToRows(InputBatch(kSeed, 0, 5)).ShortDebugString(),
            ToRows(InputBatch(kSeed, 0, 5)).ShortDebugString());
  EXPECT_NE(ToRows(InputBatch(kSeed, 0, 5)).ShortDebugString(),
            ToRows(InputBatch(kSeed, 1, 5)).ShortDebugString());
  EXPECT_NE(ToRows(InputBatch(kSeed, 0, 5)).ShortDebugString(),
            ToRows(InputBatch(kSeed + 1, 0, 5)).ShortDebugString());
}

TEST(InputTest, DisorderIsThereAndWithinTheDelay) {
  int64_t greatest = 0;
  int64_t furthest_back = 0;
  for (int64_t sequence = 1; sequence <= 100; ++sequence) {
    for (const InputEvent& event : InputBatch(kSeed, 0, sequence)) {
      furthest_back = std::max(furthest_back, greatest - event.time_us);
      greatest = std::max(greatest, event.time_us);
    }
  }
  EXPECT_GT(furthest_back, kDisorderUs / 2);
  EXPECT_LT(furthest_back, kMaxDelayUs);
}

TEST(InputTest, BothWireFormsSayTheSame) {
  const std::vector<InputEvent> events = InputBatch(kSeed, 1, 3);
  const v1::RowBatch rows = ToRows(events);
  const v1::ColumnBatch columns = ToColumns(events);
  ASSERT_EQ(rows.events_size(), kEventsPerBatch);
  ASSERT_EQ(columns.row_count(), kEventsPerBatch);
  int64_t time_us = columns.base_time_us();
  for (int i = 0; i < kEventsPerBatch; ++i) {
    time_us += columns.event_time_deltas_us(i);
    const auto& fields = rows.events(i).fields();
    EXPECT_EQ(FromTimestamp(rows.events(i).event_time()), time_us);
    EXPECT_EQ(fields.at("key").string_value(),
              columns.symbols(columns.columns(0).symbols().indices(i)));
    EXPECT_EQ(fields.at("amount").int64_value(),
              columns.columns(1).int64s().values(i));
    EXPECT_EQ(fields.at("price").double_value(),
              columns.columns(2).doubles().values(i));
  }
}

}  // namespace
}  // namespace casement::stress
