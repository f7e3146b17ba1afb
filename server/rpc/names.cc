#include "server/rpc/names.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/engine/error.h"
#include "server/engine/spec.h"

namespace casement::rpc {
namespace {

absl::StatusOr<ChildName> ParseChild(absl::string_view field,
                                     absl::string_view name,
                                     absl::string_view collection,
                                     absl::string_view form) {
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '/');
  if (parts.size() != 4 || parts[0] != "streams" || parts[2] != collection ||
      !engine::IsValidId(parts[1]) || !engine::IsValidId(parts[3])) {
    return engine::InvalidField(field, absl::StrCat("must be \"", form, "\""));
  }
  return ChildName{std::string(parts[1]), std::string(parts[3])};
}

}  // namespace

std::string StreamName(absl::string_view stream) {
  return absl::StrCat("streams/", stream);
}

std::string ViewName(absl::string_view stream, absl::string_view view) {
  return absl::StrCat("streams/", stream, "/views/", view);
}

std::string ProducerName(absl::string_view stream, absl::string_view producer) {
  return absl::StrCat("streams/", stream, "/producers/", producer);
}

absl::StatusOr<std::string> ParseStreamName(absl::string_view field,
                                            absl::string_view name) {
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '/');
  if (parts.size() != 2 || parts[0] != "streams" ||
      !engine::IsValidId(parts[1])) {
    return engine::InvalidField(field, "must be \"streams/{stream}\"");
  }
  return std::string(parts[1]);
}

absl::StatusOr<ChildName> ParseViewName(absl::string_view field,
                                        absl::string_view name) {
  return ParseChild(field, name, "views", "streams/{stream}/views/{view}");
}

absl::StatusOr<ChildName> ParseProducerName(absl::string_view field,
                                            absl::string_view name) {
  return ParseChild(field, name, "producers",
                    "streams/{stream}/producers/{producer}");
}

}  // namespace casement::rpc
