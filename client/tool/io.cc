#include "client/tool/io.h"

#include "client/status.h"

namespace casement::tool {
namespace {

const char* Hint(const absl::Status& status) {
  const std::string reason = client::ErrorReason(status);
  if (reason == "PRODUCER_FENCED") {
    return "another program has opened this producer since: give each program "
           "a --producer of its own";
  }
  if (reason == "HAS_VIEWS") return "--force deletes its views too";
  if (reason == "CURSOR_INVALID") {
    return "start anew with --from oldest, and without the old --cursor_file";
  }
  if (reason == "SEQUENCE_REUSED") {
    return "another program sends under this name, or the file has changed: "
           "choose another --producer";
  }
  if (reason.empty() && absl::IsUnavailable(status)) {
    return "is casementd running there? --server HOST:PORT names another, "
           "--wait 30s waits for it";
  }
  return nullptr;
}

}  // namespace

int ReportError(Io& io, const absl::Status& status) {
  *io.err << "casement: " << std::string(status.message()) << "\n";
  if (const char* hint = Hint(status)) *io.err << "  hint: " << hint << "\n";
  return absl::IsUnavailable(status) ? kExitUnavailable : kExitFailed;
}

int ReportUsage(Io& io, absl::string_view message) {
  *io.err << "casement: " << std::string(message) << "\n"
          << "  hint: --help shows how each command is written\n";
  return kExitUsage;
}

}  // namespace casement::tool
