#include "tests/conformance/json_reader.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace casement::conformance {

JsonReader::JsonReader(const Json& object, std::string path, Problems* problems)
    : object_(object), path_(std::move(path)), problems_(problems) {
  if (!object_.is_object()) {
    problems_->push_back(absl::StrCat(path_, " is not an object"));
  }
}

std::string JsonReader::PathOf(const std::string& name) const {
  return path_.empty() ? name : absl::StrCat(path_, ".", name);
}

void JsonReader::Problem(const std::string& name, const std::string& what) {
  problems_->push_back(absl::StrCat(PathOf(name), " ", what));
}

bool JsonReader::Has(const char* name) const {
  return object_.is_object() && object_.contains(name);
}

const Json* JsonReader::Find(const char* name) {
  seen_.insert(name);
  if (!object_.is_object()) return nullptr;
  auto found = object_.find(name);
  return found == object_.end() ? nullptr : &*found;
}

std::optional<std::string> JsonReader::OptionalString(const char* name) {
  const Json* json = Find(name);
  if (json == nullptr) return std::nullopt;
  if (json->is_string()) return json->get<std::string>();
  Problem(name, "is not a string");
  return std::nullopt;
}

std::string JsonReader::String(const char* name, const std::string& otherwise) {
  return OptionalString(name).value_or(otherwise);
}

std::string JsonReader::NeededString(const char* name) {
  if (!Has(name)) Problem(name, "is missing");
  return String(name, "");
}

std::string JsonReader::Choice(const char* name, const std::string& otherwise,
                               std::initializer_list<const char*> allowed) {
  const std::string value = String(name, otherwise);
  for (const char* word : allowed) {
    if (value == word) return value;
  }
  Problem(name, absl::StrCat("is \"", value, "\", which is not known here"));
  return value;
}

bool JsonReader::Bool(const char* name, bool otherwise) {
  const Json* json = Find(name);
  if (json == nullptr) return otherwise;
  if (json->is_boolean()) return json->get<bool>();
  Problem(name, "is neither true nor false");
  return otherwise;
}

std::optional<int64_t> JsonReader::OptionalInt(const char* name) {
  const Json* json = Find(name);
  if (json == nullptr) return std::nullopt;
  if (json->is_number_integer()) return json->get<int64_t>();
  Problem(name, "is not a whole number");
  return std::nullopt;
}

std::optional<double> JsonReader::OptionalDouble(const char* name) {
  const Json* json = Find(name);
  if (json == nullptr) return std::nullopt;
  if (json->is_number()) return json->get<double>();
  Problem(name, "is not a number");
  return std::nullopt;
}

std::optional<Micros> JsonReader::OptionalTime(const char* name) {
  const Json* json = Find(name);
  if (json == nullptr || json->is_null()) return std::nullopt;
  if (json->is_string()) {
    absl::StatusOr<Micros> time = ParseTime(json->get<std::string>());
    if (time.ok()) return *time;
  }
  Problem(name, absl::StrCat("is not a time: ", json->dump()));
  return std::nullopt;
}

Micros JsonReader::NeededTime(const char* name) {
  std::optional<Micros> time = OptionalTime(name);
  if (!Has(name)) Problem(name, "is missing");
  return time.value_or(0);
}

Length JsonReader::Duration(const char* name) {
  Length length;
  const Json* json = Find(name);
  if (json == nullptr) return length;
  length.given = true;
  length.readable = false;
  if (json->is_string()) {
    absl::StatusOr<Micros> value = ParseDuration(json->get<std::string>());
    if (value.ok()) {
      length.readable = true;
      length.value = *value;
    }
  }
  if (!length.readable) {
    Problem(name, absl::StrCat("is not a duration: ", json->dump()));
  }
  return length;
}

std::vector<std::string> JsonReader::Strings(const char* name) {
  std::vector<std::string> strings;
  const Json* json = Find(name);
  if (json == nullptr) return strings;
  if (!json->is_array()) Problem(name, "is not a list");
  for (const Json& element : *json) {
    if (element.is_string()) {
      strings.push_back(element.get<std::string>());
    } else {
      Problem(name, "holds something that is not a string");
    }
  }
  return strings;
}

std::vector<const Json*> JsonReader::Objects(const char* name) {
  std::vector<const Json*> objects;
  const Json* json = Find(name);
  if (json == nullptr) return objects;
  if (!json->is_array()) {
    Problem(name, "is not a list");
    return objects;
  }
  for (const Json& element : *json) objects.push_back(&element);
  return objects;
}

void JsonReader::Finish() {
  if (!object_.is_object()) return;
  for (const auto& member : object_.items()) {
    if (seen_.count(member.key()) == 0) {
      Problem(member.key(), "is not known here");
    }
  }
}

}  // namespace casement::conformance
