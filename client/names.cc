#include "client/names.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace casement::client {
namespace {

using Parts = std::vector<absl::string_view>;

bool AllFilled(const Parts& parts) {
  for (const absl::string_view part : parts) {
    if (part.empty()) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::string> StreamName(absl::string_view text) {
  const Parts parts = absl::StrSplit(text, '/');
  if (AllFilled(parts)) {
    if (parts.size() == 1) return absl::StrCat("streams/", text);
    if (parts.size() == 2 && parts[0] == "streams") return std::string(text);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is not the name of a stream: write STREAM"));
}

absl::StatusOr<std::string> ViewName(absl::string_view text) {
  const Parts parts = absl::StrSplit(text, '/');
  if (AllFilled(parts)) {
    if (parts.size() == 2) {
      return absl::StrCat("streams/", parts[0], "/views/", parts[1]);
    }
    if (parts.size() == 4 && parts[0] == "streams" && parts[2] == "views") {
      return std::string(text);
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", text, "\" is not the name of a view: write STREAM/VIEW"));
}

std::string ProducerName(absl::string_view stream_name, absl::string_view id) {
  return absl::StrCat(stream_name, "/producers/", id);
}

std::string LastPart(absl::string_view name) {
  const Parts parts = absl::StrSplit(name, '/');
  return std::string(parts.back());
}

std::string StreamOfView(absl::string_view view_name) {
  const Parts parts = absl::StrSplit(view_name, '/');
  if (parts.size() < 2) return std::string(view_name);
  return absl::StrCat(parts[0], "/", parts[1]);
}

std::string ShortName(absl::string_view name) {
  const Parts parts = absl::StrSplit(name, '/');
  Parts ids;
  for (size_t i = 1; i < parts.size(); i += 2) ids.push_back(parts[i]);
  return absl::StrJoin(ids, "/");
}

}  // namespace casement::client
