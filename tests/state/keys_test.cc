#include "state/keys.h"

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace casement::state {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
const std::vector<int64_t> kTimes = {
    kLeast, kLeast + 1, -1'000'000, -256, -1, 0, 1, 255, 256, kMost - 1, kMost};

TEST(KeysTest, RowKeysComeBackAsTheyWere) {
  const std::vector<std::string> keys = {"",
                                         "a",
                                         std::string("\0", 1),
                                         std::string("a\0b\0", 4),
                                         "\xff\xff",
                                         std::string(300, 'k')};
  for (const int64_t closing : kTimes) {
    for (const int64_t start : kTimes) {
      for (const std::string& key : keys) {
        const std::string encoded = RowKey(7, 9, closing, start, key);
        const auto parsed = ParseRowKey(encoded);
        ASSERT_TRUE(parsed.has_value());
        EXPECT_EQ(parsed->stream, 7u);
        EXPECT_EQ(parsed->view, 9u);
        EXPECT_EQ(parsed->closing_time, closing);
        EXPECT_EQ(parsed->start, start);
        EXPECT_EQ(parsed->key, key);
      }
    }
  }
}

TEST(KeysTest, RowKeysSortByClosingTimeThenStartThenKey) {
  std::mt19937 random(1);
  std::vector<std::tuple<uint32_t, uint32_t, int64_t, int64_t, std::string>>
      rows;
  for (int i = 0; i < 2000; ++i) {
    std::string key;
    for (uint32_t n = random() % 4; n > 0; --n) {
      key.push_back(
          "\0\x01"
          "a\xff"[random() % 4]);
    }
    rows.emplace_back(random() % 2 * 255, random() % 2 * 256,
                      kTimes[random() % kTimes.size()],
                      kTimes[random() % kTimes.size()], key);
  }
  const auto key_of = [](const auto& row) {
    return RowKey(std::get<0>(row), std::get<1>(row), std::get<2>(row),
                  std::get<3>(row), std::get<4>(row));
  };
  std::sort(rows.begin(), rows.end());
  for (size_t i = 1; i < rows.size(); ++i) {
    if (rows[i - 1] == rows[i]) continue;
    EXPECT_LT(key_of(rows[i - 1]), key_of(rows[i]));
  }
}

TEST(KeysTest, LogKeysSortByVersionThenIndex) {
  const std::vector<std::string> sorted = {
      LogKey(1, 1, 0, 0),   LogKey(1, 1, 0, 256), LogKey(1, 1, 1, 0),
      LogKey(1, 1, 255, 9), LogKey(1, 1, 256, 0), LogKey(1, 1, kMost, 0),
      LogKey(1, 2, 0, 0),   LogKey(2, 0, 0, 0),   LogKey(256, 0, 0, 0)};
  EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
  const auto parsed = ParseLogKey(LogKey(3, 4, 5, 6));
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->stream, 3u);
  EXPECT_EQ(parsed->view, 4u);
  EXPECT_EQ(parsed->version, 5);
  EXPECT_EQ(parsed->first_index, 6);
}

TEST(KeysTest, OtherKeysComeBackAsTheyWere) {
  EXPECT_EQ(ParseStreamKey(Table::kPublished,
                           StreamKey(Table::kPublished, 0xfffefdfc)),
            0xfffefdfc);
  const auto view =
      ParseViewKey(Table::kDroppedView, ViewKey(Table::kDroppedView, 1, 2));
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->stream, 1u);
  EXPECT_EQ(view->view, 2u);
  const auto chunk = ParseCheckpointKey(CheckpointKey(1, 2, 3, 4));
  ASSERT_TRUE(chunk.has_value());
  EXPECT_EQ(chunk->stream, 1u);
  EXPECT_EQ(chunk->checkpoint, 2u);
  EXPECT_EQ(chunk->number, 3u);
  EXPECT_EQ(chunk->partition, 4u);
  EXPECT_EQ(ParseJournalKey(JournalKey(kMost)), kMost);
}

TEST(KeysTest, RefusesKeysThatAreCutOrOfAnotherTable) {
  const std::string log = LogKey(1, 2, 3, 4);
  for (size_t size = 0; size < log.size(); ++size) {
    EXPECT_FALSE(ParseLogKey(log.substr(0, size)).has_value()) << size;
  }
  EXPECT_FALSE(ParseLogKey(log + "x").has_value());
  EXPECT_FALSE(ParseRowKey(log).has_value());
  EXPECT_FALSE(
      ParseStreamKey(Table::kPublished, StreamKey(Table::kDefinition, 1))
          .has_value());
}

TEST(KeysTest, PrefixEndIsAboveAllWithThePrefix) {
  EXPECT_EQ(PrefixEnd("ab"), "ac");
  EXPECT_EQ(PrefixEnd(std::string("a\xff\xff")), "b");
  EXPECT_EQ(PrefixEnd(std::string("\xff")), "");
  const std::string prefix = ViewKey(Table::kLog, 1, 0xffffffff);
  EXPECT_LT(LogKey(1, 0xffffffff, kMost, kMost), PrefixEnd(prefix));
  EXPECT_GE(LogKey(2, 0, 0, 0), PrefixEnd(prefix));
}

}  // namespace
}  // namespace casement::state
