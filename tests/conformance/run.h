// Runs one case on a server, in one wire form or in both, and says what came of
// it.

#ifndef CASEMENT_TESTS_CONFORMANCE_RUN_H_
#define CASEMENT_TESTS_CONFORMANCE_RUN_H_

#include <string>
#include <vector>

#include "tests/conformance/case.h"
#include "tests/conformance/sender.h"
#include "tests/support/server_process.h"

namespace casement::conformance {

struct CaseReport {
  // Each with the form and the step; empty if the case passed.
  std::vector<std::string> differences;
  // Batches that were to go as columns, and those of them that went as rows.
  int column_batches = 0;
  int batches_as_rows = 0;
};

// `number` tells the streams of cases apart that share a server.
CaseReport RunCase(const Case& c, const std::vector<Form>& forms, int number,
                   support::ServerProcess& server);

}  // namespace casement::conformance

#endif  // CASEMENT_TESTS_CONFORMANCE_RUN_H_
