// A directory of a test's own, under the system's place for temporary files.
// It is gone, with all that is in it, when the object is; unless the test says
// Keep(), so that somebody can look into what went wrong.

#ifndef CASEMENT_TESTS_SUPPORT_TEMP_DIR_H_
#define CASEMENT_TESTS_SUPPORT_TEMP_DIR_H_

#include <string>

#include "absl/strings/string_view.h"

namespace casement::support {

class TempDir {
 public:
  // Ends the process if no directory can be made: no test can go on then.
  explicit TempDir(absl::string_view prefix = "casement");
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  // The path of `name` in the directory; makes nothing.
  std::string Sub(absl::string_view name) const;
  void Keep() { keep_ = true; }

 private:
  std::string path_;
  bool keep_ = false;
};

}  // namespace casement::support

#endif  // CASEMENT_TESTS_SUPPORT_TEMP_DIR_H_
