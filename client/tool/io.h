// Where the command line reads and writes, and how it ends. What this is for:
// commands that tests can run in their own process. The one invariant: results
// go to `out`, everything said to the person goes to `err`.

#ifndef CASEMENT_CLIENT_TOOL_IO_H_
#define CASEMENT_CLIENT_TOOL_IO_H_

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace casement::tool {

struct Io {
  std::ostream* out = nullptr;
  std::ostream* err = nullptr;
  int in_fd = 0;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
};

// Exit codes, as `casement --help` documents them.
inline constexpr int kExitOk = 0;
// The server said no, or a file could not be read or written.
inline constexpr int kExitFailed = 1;
// The command itself is wrong.
inline constexpr int kExitUsage = 2;
// No server there, or it went away for too long.
inline constexpr int kExitUnavailable = 3;

// One line on `err`, and one with a hint where there is one. Returns the exit
// code for it.
int ReportError(Io& io, const absl::Status& status);

// For an error of whoever typed the command.
int ReportUsage(Io& io, absl::string_view message);

}  // namespace casement::tool

#endif  // CASEMENT_CLIENT_TOOL_IO_H_
