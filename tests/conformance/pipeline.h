// What a case asks to be made: one stream and one view over it, in the words of
// the case files. Words are kept as they stand, for a case of kind `spec` may
// hold words that mean nothing.

#ifndef CASEMENT_TESTS_CONFORMANCE_PIPELINE_H_
#define CASEMENT_TESTS_CONFORMANCE_PIPELINE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/conformance/json_reader.h"

namespace casement::conformance {

struct Aggregate {
  std::string fn;
  std::optional<std::string> field;
  // `as`, else fn_field, else fn.
  std::string name;
};

struct WindowModel {
  std::string kind;
  Length size;
  Length slide;
  Length offset;
  Length gap;
  std::string gap_rule;
  std::string unit;
  std::optional<int64_t> count;
  std::optional<std::string> time_zone;
  std::optional<std::string> week_start;
};

struct FutureGuard {
  Length limit;
  std::string action;
};

struct Pipeline {
  WindowModel window;
  bool keyed = false;
  // Name to type: int64, double or string.
  std::map<std::string, std::string> fields;
  std::vector<Aggregate> aggregates;

  Length delay;
  std::string advance;
  std::string scope;
  // Absent: all senders are one input.
  std::optional<std::vector<std::string>> sources;
  std::optional<FutureGuard> future;

  std::string late_rule;
  Length allowed_lateness;
  std::string session_check;

  std::string provisional;
  std::string dedup;
  std::string missing_key;
  std::string on_invalid;
  bool emit_empty = false;

  bool is_session() const { return window.kind == "session"; }
  // The type of the aggregate's value in a result; empty if it has none.
  std::string ValueType(const Aggregate& aggregate) const;
};

// What is wrong with it, or not known, goes to `problems`; the rest is read
// all the same.
Pipeline ParsePipeline(const Json& json, const std::string& path,
                       Problems* problems);

}  // namespace casement::conformance

#endif  // CASEMENT_TESTS_CONFORMANCE_PIPELINE_H_
