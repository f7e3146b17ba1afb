// casementd: flags, wiring, and the order of starting and stopping. The port is
// taken before the store is touched, so a second server on one address changes
// nothing; calls are answered with RECOVERING until the store is open.
#include <malloc.h>
#include <signal.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/drain.h"
#include "server/logging.h"
#include "server/options.h"
#include "server/rpc/server.h"
#include "server/runtime/clock.h"
#include "server/runtime/runtime.h"
#include "state/open_error.h"

namespace casement {
namespace {

// A page fault costs more than the memory that is kept: batches and window
// tables come and go in large pieces.
void KeepFreedMemory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 64 << 20);
  mallopt(M_ARENA_MAX, 2);
}

int ExitCodeOf(const absl::Status& status) {
  const std::optional<state::OpenError> kind = state::GetOpenError(status);
  if (!kind.has_value()) {
    return absl::IsDataLoss(status) ? kExitStoreCorrupt : kExitOther;
  }
  switch (*kind) {
    case state::OpenError::kInUse:
      return kExitStoreInUse;
    case state::OpenError::kForeign:
      return kExitStoreForeign;
    case state::OpenError::kNewerFormat:
      return kExitStoreNewer;
    case state::OpenError::kUnwritable:
      return kExitStoreUnwritable;
    case state::OpenError::kCorrupt:
      return kExitStoreCorrupt;
    case state::OpenError::kOther:
      return kExitOther;
  }
  return kExitOther;
}

// Whoever waits for the file never sees half of it.
absl::Status WritePortFile(const std::string& path, int port) {
  const std::string part = path + ".part";
  std::ofstream file(part);
  file << port << "\n";
  file.close();
  std::error_code error;
  if (file.good()) std::filesystem::rename(part, path, error);
  if (!file.good() || error) {
    return absl::UnavailableError(absl::StrCat("can't write ", path));
  }
  return absl::OkStatus();
}

int Run(const Options& options) {
  const StopSignal stop;
  runtime::SystemClock system_clock;
  runtime::ManualClock test_clock;
  runtime::Clock* clock = &system_clock;
  rpc::RpcServerOptions server_options;
  server_options.address = options.listen;
  if (options.test_clock) {
    clock = &test_clock;
    server_options.test_clock = &test_clock;
  }
  runtime::RuntimeOptions runtime_options;
  runtime_options.data_dir = options.data_dir;

  // Before the server, which it outlives.
  std::unique_ptr<runtime::Runtime> runtime;
  absl::StatusOr<std::unique_ptr<rpc::RpcServer>> server =
      rpc::RpcServer::Start(server_options);
  if (!server.ok()) {
    spdlog::error("{}", std::string(server.status().message()));
    return kExitPortTaken;
  }
  absl::StatusOr<std::unique_ptr<runtime::Runtime>> started =
      runtime::Runtime::Start(runtime_options, clock);
  if (!started.ok()) {
    spdlog::error("{}", std::string(started.status().message()));
    return ExitCodeOf(started.status());
  }
  runtime = *std::move(started);
  (*server)->Serve(runtime.get());
  const std::string host = ParseHostPort(options.listen)->host;
  spdlog::info("listening on {}", JoinHostPort(host, (*server)->port()));
  int code = kExitClean;
  absl::Status port_file;
  if (!options.port_file.empty()) {
    port_file = WritePortFile(options.port_file, (*server)->port());
  }
  if (port_file.ok()) {
    stop.Wait();
  } else {
    spdlog::error("{}", std::string(port_file.message()));
    code = kExitOther;
  }
  DrainAll(server->get(), runtime.get(),
           absl::ToChronoMilliseconds(options.drain_delay));
  server->reset();
  runtime.reset();
  spdlog::info("stopped");
  return code;
}

int Main(int argc, char** argv) {
  KeepFreedMemory();
  const absl::StatusOr<Options> options =
      ParseOptions(std::vector<std::string>(argv + 1, argv + argc));
  if (!options.ok()) {
    std::fprintf(stderr, "casementd: %s\n",
                 std::string(options.status().message()).c_str());
    return kExitBadFlag;
  }
  if (options->help) {
    std::fputs(HelpText().c_str(), stdout);
    return kExitClean;
  }
  if (options->version) {
    std::puts("casementd " CASEMENT_VERSION);
    return kExitClean;
  }
  StartLogging(options->log_level, options->log_format);
  signal(SIGPIPE, SIG_IGN);
  return Run(*options);
}

}  // namespace
}  // namespace casement

int main(int argc, char** argv) { return casement::Main(argc, argv); }
