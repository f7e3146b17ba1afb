// Reads a JSON object member by member and keeps a list of what is wrong with
// it: members of the wrong type, values that are not among the allowed ones,
// and members that nobody asked for. A case that says something which the
// runner does not know must not pass.

#ifndef CASEMENT_TESTS_CONFORMANCE_JSON_READER_H_
#define CASEMENT_TESTS_CONFORMANCE_JSON_READER_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/conformance/iso.h"

namespace casement::conformance {

using Json = nlohmann::json;
using Problems = std::vector<std::string>;

// A duration as it stands in a case, or the lack of one.
struct Length {
  bool given = false;
  // False: given, but nothing that can be read as a duration.
  bool readable = true;
  Micros value = 0;
};

class JsonReader {
 public:
  // `object` and `problems` must outlive the reader; `path` tells where in the
  // file the object stands.
  JsonReader(const Json& object, std::string path, Problems* problems);

  bool Has(const char* name) const;
  // Null if there is no such member.
  const Json* Find(const char* name);

  std::optional<std::string> OptionalString(const char* name);
  std::string String(const char* name, const std::string& otherwise);
  // As String; a problem if there is none.
  std::string NeededString(const char* name);
  // As String; a problem if it is none of `allowed`.
  std::string Choice(const char* name, const std::string& otherwise,
                     std::initializer_list<const char*> allowed);
  bool Bool(const char* name, bool otherwise);
  std::optional<int64_t> OptionalInt(const char* name);
  std::optional<double> OptionalDouble(const char* name);
  // Null and absent are both "no time".
  std::optional<Micros> OptionalTime(const char* name);
  Micros NeededTime(const char* name);
  Length Duration(const char* name);
  std::vector<std::string> Strings(const char* name);
  // The elements of an array of objects; empty if there is none.
  std::vector<const Json*> Objects(const char* name);

  const std::string& path() const { return path_; }
  std::string PathOf(const std::string& name) const;
  void Problem(const std::string& name, const std::string& what);
  // Every member that was not asked for is a problem.
  void Finish();

 private:
  const Json& object_;
  std::string path_;
  Problems* problems_;
  std::set<std::string> seen_;
};

}  // namespace casement::conformance

#endif  // CASEMENT_TESTS_CONFORMANCE_JSON_READER_H_
