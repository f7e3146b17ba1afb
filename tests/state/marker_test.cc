#include "state/marker.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "state/format.h"
#include "state/open_error.h"
#include "tests/state/test_util.h"

namespace casement::state {
namespace {

using ::testing::HasSubstr;

// Opens the directory, which must be refused for this reason and stay as it
// is.
void ExpectRefused(const std::string& path, OpenError kind,
                   const std::string& message_part) {
  const auto before = Snapshot(path);
  const auto directory = Directory::Open(path);
  ASSERT_FALSE(directory.ok());
  EXPECT_EQ(GetOpenError(directory.status()), kind) << directory.status();
  EXPECT_THAT(std::string(directory.status().message()), HasSubstr(path));
  EXPECT_THAT(std::string(directory.status().message()),
              HasSubstr(message_part));
  EXPECT_EQ(Snapshot(path), before);
}

TEST(MarkerTest, AnEmptyDirectoryBecomesAStoreWithItsOwnId) {
  TempDir a, b;
  std::string id;
  {
    const auto directory = Directory::Open(a / "new/deep");
    ASSERT_THAT(directory, IsOk());
    id = (*directory)->store_id();
    EXPECT_EQ(id.size(), 32u);
    EXPECT_EQ((*directory)->format(), kStoreFormat);
    EXPECT_FALSE((*directory)->ready());
    ASSERT_THAT((*directory)->MarkReady(), IsOk());
  }
  const auto again = Directory::Open(a / "new/deep");
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ((*again)->store_id(), id);
  EXPECT_TRUE((*again)->ready());
  const auto other = Directory::Open(b.path());
  ASSERT_THAT(other, IsOk());
  EXPECT_NE((*other)->store_id(), id);
}

TEST(MarkerTest, ADirectoryOfSomethingElseIsRefused) {
  TempDir dir;
  WriteAll(dir / "thesis.txt", "chapter one");
  ExpectRefused(dir.path(), OpenError::kForeign, "thesis.txt");
}

TEST(MarkerTest, AStoreWithoutItsMarkerIsRefused) {
  TempDir dir;
  ASSERT_THAT(Directory::Open(dir.path()), IsOk());
  std::filesystem::create_directory(dir / "state");
  std::filesystem::remove(dir / "CASEMENT");
  ExpectRefused(dir.path(), OpenError::kForeign, "marker");
}

TEST(MarkerTest, AForeignMarkerIsRefused) {
  TempDir dir;
  WriteAll(dir / "CASEMENT", "windows and frames\n");
  ExpectRefused(dir.path(), OpenError::kForeign, "not the marker");
}

TEST(MarkerTest, ANewerFormatIsRefusedWithBothNumbers) {
  TempDir dir;
  const int newer = kStoreFormat + 1;
  WriteAll(dir / "CASEMENT", absl::StrCat("casement store\nformat ", newer,
                                          "\nwhat later releases write\n"));
  ExpectRefused(dir.path(), OpenError::kNewerFormat,
                absl::StrCat("format ", newer));
  ExpectRefused(dir.path(), OpenError::kNewerFormat,
                absl::StrCat("format ", kStoreFormat));
}

TEST(MarkerTest, AnUnknownOlderFormatIsRefused) {
  TempDir dir;
  WriteAll(dir / "CASEMENT", "casement store\nformat 0\n");
  ExpectRefused(dir.path(), OpenError::kNewerFormat, "format 0");
}

TEST(MarkerTest, AMarkerWithoutAFormatIsRefused) {
  TempDir dir;
  WriteAll(dir / "CASEMENT", "casement store\n");
  ExpectRefused(dir.path(), OpenError::kForeign, "format");
}

TEST(MarkerTest, ADamagedMarkerIsRefused) {
  TempDir dir;
  WriteAll(dir / "CASEMENT",
           absl::StrCat("casement store\nformat ", kStoreFormat,
                        "\nid 0123\nstate ready\n"));
  ExpectRefused(dir.path(), OpenError::kCorrupt, "damaged");
}

TEST(MarkerTest, ASecondOpenerIsRefusedAndTheFirstGoesOn) {
  TempDir dir;
  auto first = Directory::Open(dir.path());
  ASSERT_THAT(first, IsOk());
  ExpectRefused(dir.path(), OpenError::kInUse, "in use");
  EXPECT_THAT((*first)->MarkReady(), IsOk());
  first->reset();
  EXPECT_THAT(Directory::Open(dir.path()), IsOk());
}

TEST(MarkerTest, AFileIsNoDirectory) {
  TempDir dir;
  WriteAll(dir / "file", "x");
  const auto directory = Directory::Open(dir / "file");
  EXPECT_EQ(GetOpenError(directory.status()), OpenError::kUnwritable);
}

// Root may write everywhere: while this lives it is nobody in particular.
class Unprivileged {
 public:
  Unprivileged() : is_root_(geteuid() == 0) {
    if (is_root_) {
      EXPECT_EQ(seteuid(kNobody), 0);
    }
  }
  ~Unprivileged() {
    if (is_root_) {
      EXPECT_EQ(seteuid(0), 0);
    }
  }

 private:
  static constexpr uid_t kNobody = 65534;
  const bool is_root_;
};

TEST(MarkerTest, AnUnwritableDirectoryIsRefused) {
  TempDir dir;
  ASSERT_EQ(chmod(dir.path().c_str(), 0555), 0);
  {
    Unprivileged unprivileged;
    ExpectRefused(dir.path(), OpenError::kUnwritable, "cannot write");
  }
  ASSERT_EQ(chmod(dir.path().c_str(), 0755), 0);
}

TEST(MarkerTest, AMountPointsOwnDirectoryDoesNotCount) {
  TempDir dir;
  std::filesystem::create_directory(dir / "lost+found");
  EXPECT_THAT(Directory::Open(dir.path()), IsOk());
}

TEST(MarkerTest, ProbingLeavesNothing) {
  TempDir dir;
  const auto directory = Directory::Open(dir.path());
  ASSERT_THAT(directory, IsOk());
  const auto before = Snapshot(dir.path());
  EXPECT_THAT((*directory)->ProbeSpace(1 << 20), IsOk());
  EXPECT_EQ(Snapshot(dir.path()), before);
}

}  // namespace
}  // namespace casement::state
