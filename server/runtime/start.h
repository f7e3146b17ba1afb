// Starting a runtime with another environment beneath its store, for tests of
// what happens when writes fail.
#ifndef CASEMENT_SERVER_RUNTIME_START_H_
#define CASEMENT_SERVER_RUNTIME_START_H_

#include <chrono>
#include <memory>

#include "absl/status/statusor.h"
#include "server/runtime/runtime.h"
#include "state/store.h"

namespace casement::runtime {

struct StartOptions {
  state::StoreOptions store;
  // After a failed write the store is tried again this often.
  std::chrono::milliseconds reopen_every{500};
};

absl::StatusOr<std::unique_ptr<Runtime>> StartOn(
    const StartOptions& start_options, const RuntimeOptions& options,
    Clock* clock);

}  // namespace casement::runtime

#endif  // CASEMENT_SERVER_RUNTIME_START_H_
