// Cases of kind `spec`: pipelines that must be taken or refused when they are
// made.

#ifndef CASEMENT_TESTS_CONFORMANCE_SPECS_H_
#define CASEMENT_TESTS_CONFORMANCE_SPECS_H_

#include <string>
#include <vector>

#include "tests/conformance/case.h"
#include "tests/support/server_process.h"

namespace casement::conformance {

// Each entry is one pipeline that was not treated as the case says.
std::vector<std::string> RunSpecs(const std::vector<Spec>& specs,
                                  const std::string& stream_id,
                                  support::ServerProcess& server);

}  // namespace casement::conformance

#endif  // CASEMENT_TESTS_CONFORMANCE_SPECS_H_
