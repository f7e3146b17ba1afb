#include "server/rpc/resource_conversion.h"

#include "absl/strings/str_cat.h"

namespace casement::rpc {

std::map<std::string, std::string> ToLabels(
    absl::string_view path,
    const google::protobuf::Map<std::string, std::string>& labels,
    FieldErrors* errors) {
  const std::string field = absl::StrCat(path, ".labels");
  if (labels.size() > kMaxLabels) {
    errors->Invalid(field, absl::StrCat("must be at most ", kMaxLabels));
  }
  std::map<std::string, std::string> sorted(labels.begin(), labels.end());
  for (const auto& [key, value] : sorted) {
    const std::string entry = absl::StrCat(field, "[\"", key, "\"]");
    if (key.empty() || key.size() > kMaxLabelKeyBytes) {
      errors->Invalid(entry, absl::StrCat("its key must have 1 to ",
                                          kMaxLabelKeyBytes, " bytes"));
    } else if (value.size() > kMaxLabelValueBytes) {
      errors->Invalid(entry, absl::StrCat("its value must have at most ",
                                          kMaxLabelValueBytes, " bytes"));
    }
  }
  return sorted;
}

void CheckDisplayName(absl::string_view path, absl::string_view name,
                      FieldErrors* errors) {
  if (name.size() > kMaxDisplayNameBytes) {
    errors->Invalid(
        absl::StrCat(path, ".display_name"),
        absl::StrCat("must have at most ", kMaxDisplayNameBytes, " bytes"));
  }
}

}  // namespace casement::rpc
