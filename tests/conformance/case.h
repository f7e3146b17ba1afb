// A case file in memory: a pipeline, the steps to carry out one after another,
// and what must be seen after each and at the end; or, for kind `spec`, a list
// of pipelines that must be taken or refused.

#ifndef CASEMENT_TESTS_CONFORMANCE_CASE_H_
#define CASEMENT_TESTS_CONFORMANCE_CASE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tests/conformance/outcome.h"
#include "tests/conformance/pipeline.h"

namespace casement::conformance {

struct Event {
  std::string id;
  std::optional<Micros> time;
  // Values stay JSON until the type of their field is known. Null: no value.
  Json key;
  std::map<std::string, Json> fields;
  std::optional<std::string> source;
};

struct Step {
  std::string op;
  std::vector<Event> events;
  std::optional<std::string> source;
  std::optional<std::string> producer;
  // A label, whatever its type is.
  std::optional<std::string> seq;
  std::optional<Micros> to;
  StepOutcome expect;
};

// How far two doubles may be apart.
struct Tolerance {
  double rel = 0;
  double abs = 0;
};

struct Spec {
  std::string label;
  bool valid = false;
  Pipeline pipeline;
};

struct Case {
  enum class Kind { kRun, kSpec };
  std::string name;
  Kind kind = Kind::kRun;
  std::vector<std::string> needs;
  std::optional<Tolerance> tolerance;
  Pipeline pipeline;
  std::vector<Step> steps;
  EndOutcome end;
  std::vector<Spec> specs;
};

// `otherwise_named` names a case that doesn't say its name. INVALID_ARGUMENT,
// with all that is wrong, for what is no case or says something unknown.
absl::StatusOr<Case> ParseCase(absl::string_view text,
                               absl::string_view otherwise_named);

}  // namespace casement::conformance

#endif  // CASEMENT_TESTS_CONFORMANCE_CASE_H_
