// What the tests of the store and of the runtime share: directories that go
// away, their contents as a value, and matchers for statuses.
#ifndef CASEMENT_TESTS_STATE_TEST_UTIL_H_
#define CASEMENT_TESTS_STATE_TEST_UTIL_H_

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace casement::state {

inline const absl::Status& StatusOf(const absl::Status& status) {
  return status;
}
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

MATCHER(IsOk, "is OK") {
  *result_listener << StatusOf(arg).ToString();
  return StatusOf(arg).ok();
}
MATCHER_P(HasCode, code, "") {
  *result_listener << StatusOf(arg).ToString();
  return StatusOf(arg).code() == code;
}

class TempDir {
 public:
  TempDir() {
    std::string name =
        (std::filesystem::temp_directory_path() / "casement_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TempDir() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const {
    return path_ + "/" + name;
  }

 private:
  std::string path_;
};

inline std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

inline void WriteAll(const std::string& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << bytes;
}

// All files below a directory with their bytes; directories end in "/".
inline std::map<std::string, std::string> Snapshot(const std::string& dir) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir)) {
    const std::string name = entry.path().string().substr(dir.size());
    if (entry.is_directory()) {
      files[name + "/"] = "";
    } else {
      files[name] = ReadAll(entry.path().string());
    }
  }
  return files;
}

inline void CopyDir(const std::string& from, const std::string& to) {
  std::filesystem::remove_all(to);
  std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
}

// Paths of the files below a directory whose name ends so, sorted.
inline std::vector<std::string> FilesEndingIn(const std::string& dir,
                                              const std::string& end) {
  std::vector<std::string> found;
  for (const auto& [name, bytes] : Snapshot(dir)) {
    if (name.size() >= end.size() &&
        name.compare(name.size() - end.size(), end.size(), end) == 0) {
      found.push_back(dir + name);
    }
  }
  return found;
}

}  // namespace casement::state

#endif  // CASEMENT_TESTS_STATE_TEST_UTIL_H_
