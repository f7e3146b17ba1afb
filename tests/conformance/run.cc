#include "tests/conformance/run.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tests/conformance/adapter.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/specs.h"

namespace casement::conformance {
namespace {

const char* NameOf(Form form) {
  return form == Form::kRows ? "rows" : "columns";
}

// A name by the rules of the API that still tells the case.
std::string StreamId(const Case& c, Form form, int number) {
  std::string id = absl::StrCat("c", number, "-", NameOf(form), "-");
  for (char letter : c.name) {
    if (id.size() == 60) break;
    id.push_back(absl::ascii_isalnum(letter) ? absl::ascii_tolower(letter)
                                             : '-');
  }
  while (id.back() == '-') id.pop_back();
  return id;
}

void Add(const std::string& where, const std::vector<std::string>& what,
         std::vector<std::string>* differences) {
  for (const std::string& text : what) {
    differences->push_back(absl::StrCat(where, ": ", text));
  }
}

// All steps are carried out, also after a difference; an error ends the case.
void RunSteps(const Case& c, const std::string& form, Adapter& adapter,
              std::vector<std::string>* differences) {
  const Comparer comparer(c.pipeline, c.tolerance);
  const auto failed = [&](const std::string& where,
                          const absl::Status& status) {
    Add(where, adapter.TakeFaults(), differences);
    Add(where, {status.ToString()}, differences);
  };
  if (absl::Status status = adapter.Begin(); !status.ok()) {
    return failed(form, status);
  }
  for (size_t i = 0; i < c.steps.size(); ++i) {
    const Step& step = c.steps[i];
    const std::string where =
        absl::StrCat(form, ", step ", i, " (", step.op, ")");
    absl::StatusOr<StepOutcome> sent = adapter.Carry(step);
    if (!sent.ok()) return failed(where, sent.status());
    Add(where, comparer.Compare(step.expect, *sent), differences);
    Add(where, adapter.TakeFaults(), differences);
  }
  const std::string where = absl::StrCat(form, ", end");
  absl::StatusOr<EndOutcome> end = adapter.End();
  if (!end.ok()) return failed(where, end.status());
  Add(where, comparer.Compare(c.end, *end), differences);
  Add(where, adapter.TakeFaults(), differences);
  if (absl::Status status = adapter.Remove(); !status.ok()) {
    failed(where, status);
  }
}

}  // namespace

CaseReport RunCase(const Case& c, const std::vector<Form>& forms, int number,
                   support::ServerProcess& server) {
  CaseReport report;
  if (c.kind == Case::Kind::kSpec) {
    report.differences =
        RunSpecs(c.specs, StreamId(c, Form::kRows, number), server);
    return report;
  }
  for (Form form : forms) {
    // The form before may have left none.
    if (!server.running()) break;
    Adapter adapter(server, c.pipeline, form, StreamId(c, form, number));
    RunSteps(c, NameOf(form), adapter, &report.differences);
    if (form == Form::kColumns) {
      report.column_batches += adapter.batches();
      report.batches_as_rows += adapter.batches_as_rows();
    }
  }
  return report;
}

}  // namespace casement::conformance
