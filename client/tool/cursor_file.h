// The place in a view's results where a follower stopped, in a file. What this
// is for: `watch --cursor_file`. The one invariant: the file always holds one
// whole cursor (it is replaced by renaming), and it is written only after the
// rows that the cursor covers.

#ifndef CASEMENT_CLIENT_TOOL_CURSOR_FILE_H_
#define CASEMENT_CLIENT_TOOL_CURSOR_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace casement::tool {

// Cursors are bytes; on a command line and in files they are base64.
std::string CursorText(absl::string_view cursor);
absl::StatusOr<std::string> CursorFromText(absl::string_view text);

class CursorFile {
 public:
  // `view` is the full name; a file of another view is refused.
  CursorFile(std::string path, std::string view);

  // Empty if there is no such file yet.
  absl::StatusOr<std::string> Read() const;
  absl::Status Write(absl::string_view cursor) const;

 private:
  const std::string path_;
  const std::string view_;
};

}  // namespace casement::tool

#endif  // CASEMENT_CLIENT_TOOL_CURSOR_FILE_H_
