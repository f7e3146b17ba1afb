#include "server/rpc/filter_conversion.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace casement::rpc {
namespace {

void CheckPredicate(const std::string& path,
                    const v1::FieldFilter::Predicate& predicate,
                    const engine::StreamSpec& stream, FieldErrors* errors) {
  const int index = stream.FindField(predicate.field());
  if (predicate.field().empty()) {
    errors->Invalid(absl::StrCat(path, ".field"), "is required");
    return;
  }
  if (index < 0) {
    errors->Invalid(
        absl::StrCat(path, ".field"),
        absl::StrCat("the stream has no field \"", predicate.field(), "\""));
    return;
  }
  const engine::FieldType type = stream.fields[index].type;
  for (int i = 0; i < predicate.any_of_size(); ++i) {
    if (!HasType(predicate.any_of(i), type)) {
      errors->Invalid(At(absl::StrCat(path, ".any_of"), i),
                      "is not of the field's type");
    }
  }
  if (!predicate.prefix().empty()) {
    if (predicate.any_of_size() > 0) {
      errors->Invalid(absl::StrCat(path, ".prefix"),
                      "has no effect beside any_of");
    } else if (type != engine::FieldType::kString) {
      errors->Invalid(absl::StrCat(path, ".prefix"), "needs a string field");
    }
  }
  if (predicate.any_of_size() == 0 && predicate.prefix().empty() &&
      !predicate.is_set()) {
    errors->Invalid(path, "one of any_of, prefix and is_set is required");
  }
}

}  // namespace

bool HasType(const v1::Value& value, engine::FieldType type) {
  switch (value.kind_case()) {
    case v1::Value::kInt64Value:
      return type == engine::FieldType::kInt64;
    case v1::Value::kDoubleValue:
      return type == engine::FieldType::kDouble;
    case v1::Value::kBoolValue:
      return type == engine::FieldType::kBool;
    case v1::Value::kStringValue:
      return type == engine::FieldType::kString;
    case v1::Value::kBytesValue:
      return type == engine::FieldType::kBytes;
    case v1::Value::KIND_NOT_SET:
      return true;
  }
  return false;
}

void CheckFilter(absl::string_view path, const v1::FieldFilter& filter,
                 const engine::StreamSpec& stream, FieldErrors* errors) {
  const std::string predicates = absl::StrCat(path, ".predicates");
  for (int i = 0; i < filter.predicates_size(); ++i) {
    CheckPredicate(At(predicates, i), filter.predicates(i), stream, errors);
  }
  // Without predicates every event matches, as it does now.
  if (filter.predicates_size() > 0) errors->NotBuilt(path);
}

}  // namespace casement::rpc
