#include "server/rpc/cursor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "server/rpc/page_token.h"
#include "tests/rpc/status_test_util.h"

namespace casement::rpc {
namespace {

const runtime::LogIdentity kLog = {"store-1", 3, 9};

TEST(CursorTest, ComesBack) {
  for (const runtime::LogPosition position :
       {runtime::LogPosition{0, -1}, runtime::LogPosition{12, 0},
        runtime::LogPosition{int64_t{1} << 60, int64_t{1} << 40},
        runtime::LogPosition{5, std::numeric_limits<int64_t>::max()}}) {
    const auto cursor = DecodeCursor(EncodeCursor(kLog, position));
    ASSERT_TRUE(cursor.ok());
    EXPECT_EQ(cursor->position, position);
    EXPECT_TRUE(CheckCursor(*cursor, kLog).ok());
  }
}

TEST(CursorTest, EveryChangedBitIsFound) {
  const std::string cursor = EncodeCursor(kLog, {77, 5});
  for (size_t byte = 0; byte < cursor.size(); ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = cursor;
      changed[byte] = static_cast<char>(changed[byte] ^ (1 << bit));
      const auto decoded = DecodeCursor(changed);
      EXPECT_TRUE(absl::IsInvalidArgument(decoded.status())) << byte;
      EXPECT_EQ(ReasonOf(decoded.status()), "CURSOR_INVALID");
      EXPECT_EQ(MetadataOf(decoded.status(), "cause"), "DAMAGED");
    }
  }
}

TEST(CursorTest, EveryTruncationAndExtensionIsFound) {
  const std::string cursor = EncodeCursor(kLog, {77, 5});
  for (size_t length = 0; length < cursor.size(); ++length) {
    EXPECT_FALSE(DecodeCursor(cursor.substr(0, length)).ok()) << length;
    EXPECT_FALSE(DecodeCursor(cursor.substr(length + 1)).ok()) << length;
  }
  EXPECT_FALSE(DecodeCursor(cursor + '\0').ok());
  EXPECT_FALSE(DecodeCursor(cursor + cursor).ok());
  EXPECT_FALSE(DecodeCursor(std::string(1 << 20, 'x')).ok());
}

TEST(CursorTest, AnotherLogIsTold) {
  const auto cursor = DecodeCursor(EncodeCursor(kLog, {77, 5}));
  ASSERT_TRUE(cursor.ok());
  const absl::Status store = CheckCursor(*cursor, {"store-2", 3, 9});
  EXPECT_EQ(ReasonOf(store), "CURSOR_INVALID");
  EXPECT_EQ(MetadataOf(store, "cause"), "OTHER_STORE");
  for (const runtime::LogIdentity& other :
       {runtime::LogIdentity{"store-1", 4, 9},
        runtime::LogIdentity{"store-1", 3, 10},
        runtime::LogIdentity{"store-1", 9, 3}}) {
    EXPECT_EQ(MetadataOf(CheckCursor(*cursor, other), "cause"), "OTHER_VIEW");
  }
}

TEST(CursorTest, APageTokenIsNoCursor) {
  EXPECT_FALSE(DecodeCursor(EncodePageToken("request", "position")).ok());
}

TEST(PageTokenTest, ComesBackForTheSameRequestOnly) {
  const std::string token = EncodePageToken("request a", "after this");
  EXPECT_EQ(*DecodePageToken("request a", token), "after this");
  const auto other = DecodePageToken("request b", token);
  EXPECT_TRUE(absl::IsInvalidArgument(other.status()));
  EXPECT_EQ(ReasonOf(other.status()), "PAGE_TOKEN_MISMATCH");
  EXPECT_EQ(*DecodePageToken("request a", ""), "");
}

TEST(PageTokenTest, EveryChangedCharacterIsFound) {
  const std::string token = EncodePageToken("request", "position");
  for (size_t i = 0; i < token.size(); ++i) {
    for (int c = 0; c < 256; ++c) {
      if (static_cast<char>(c) == token[i]) continue;
      std::string changed = token;
      changed[i] = static_cast<char>(c);
      EXPECT_FALSE(DecodePageToken("request", changed).ok()) << i << " " << c;
    }
  }
}

TEST(PageTokenTest, EveryTruncationIsFound) {
  const std::string token = EncodePageToken("request", "position");
  for (size_t length = 1; length < token.size(); ++length) {
    EXPECT_FALSE(DecodePageToken("request", token.substr(0, length)).ok());
  }
  EXPECT_FALSE(DecodePageToken("request", token + "A").ok());
  EXPECT_FALSE(DecodePageToken("request", token + "=").ok());
}

TEST(PageTokenTest, PlacesInAListingComeBack) {
  WindowPlace place;
  place.after.rows_version = 44;
  place.after.in_open = true;
  place.after.closing_time = -5;
  place.after.start = engine::kNoWatermark;
  place.after.key = std::string("\0k\xFF", 3);
  place.view_create_time = 99;
  const auto decoded = DecodeWindowPlace(EncodeWindowPlace(place));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->after.rows_version, 44);
  EXPECT_TRUE(decoded->after.in_open);
  EXPECT_EQ(decoded->after.closing_time, -5);
  EXPECT_EQ(decoded->after.start, engine::kNoWatermark);
  EXPECT_EQ(decoded->after.key, place.after.key);
  EXPECT_EQ(decoded->view_create_time, 99);
  EXPECT_FALSE(DecodeWindowPlace("short").ok());
}

TEST(PageTokenTest, SizesAreCoercedButNotNegative) {
  EXPECT_EQ(*PageSize(0, 50, 1000), 50);
  EXPECT_EQ(*PageSize(7, 50, 1000), 7);
  EXPECT_EQ(*PageSize(5000, 50, 1000), 1000);
  EXPECT_THAT(FieldsOf(PageSize(-1, 50, 1000).status()),
              testing::ElementsAre("page_size"));
}

}  // namespace
}  // namespace casement::rpc
