#include "tests/support/temp_dir.h"

#include <stdlib.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace casement::support {

TempDir::TempDir(absl::string_view prefix) {
  std::error_code error;
  std::filesystem::path base = std::filesystem::temp_directory_path(error);
  if (error) base = "/tmp";
  std::string name = absl::StrCat(base.string(), "/", prefix, "-XXXXXX");
  if (mkdtemp(name.data()) == nullptr) {
    std::perror(name.c_str());
    std::abort();
  }
  path_ = name;
}

TempDir::~TempDir() {
  if (keep_) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempDir::Sub(absl::string_view name) const {
  return absl::StrCat(path_, "/", name);
}

}  // namespace casement::support
