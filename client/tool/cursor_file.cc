#include "client/tool/cursor_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace casement::tool {
namespace {

absl::Status FileError(absl::string_view what, const std::string& path) {
  return absl::UnknownError(absl::StrCat("can't ", what, " cursor file \"",
                                         path, "\": ", std::strerror(errno)));
}

}  // namespace

std::string CursorText(absl::string_view cursor) {
  return absl::WebSafeBase64Escape(cursor);
}

absl::StatusOr<std::string> CursorFromText(absl::string_view text) {
  std::string cursor;
  if (text.empty() || !absl::WebSafeBase64Unescape(text, &cursor)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is not a cursor"));
  }
  return cursor;
}

CursorFile::CursorFile(std::string path, std::string view)
    : path_(std::move(path)), view_(std::move(view)) {}

absl::StatusOr<std::string> CursorFile::Read() const {
  std::ifstream file(path_);
  if (!file) {
    if (errno == ENOENT) return std::string();
    return FileError("read", path_);
  }
  std::stringstream content;
  content << file.rdbuf();
  const std::string text = content.str();
  const std::vector<std::string> parts =
      absl::StrSplit(absl::StripAsciiWhitespace(text), ' ');
  if (parts.size() != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", path_, "\" is not a cursor file"));
  }
  if (parts[0] != view_) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cursor file \"", path_, "\" is of ", parts[0], ", not of ", view_));
  }
  return CursorFromText(parts[1]);
}

absl::Status CursorFile::Write(absl::string_view cursor) const {
  // Not synced: the rows before it are not either. After a loss of power both
  // may be older, which repeats rows but leaves none out.
  const std::string temporary = absl::StrCat(path_, ".tmp");
  {
    std::ofstream file(temporary, std::ios::trunc);
    file << view_ << " " << CursorText(cursor) << "\n";
    file.flush();
    if (!file) return FileError("write", temporary);
  }
  if (std::rename(temporary.c_str(), path_.c_str()) != 0) {
    return FileError("replace", path_);
  }
  return absl::OkStatus();
}

}  // namespace casement::tool
