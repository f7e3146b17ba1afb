// The command line of casementd.
#ifndef CASEMENT_SERVER_OPTIONS_H_
#define CASEMENT_SERVER_OPTIONS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace casement {

// How casementd ends; --help tells them.
inline constexpr int kExitClean = 0;
inline constexpr int kExitOther = 1;
inline constexpr int kExitBadFlag = 2;
inline constexpr int kExitStoreInUse = 10;
inline constexpr int kExitStoreForeign = 11;
inline constexpr int kExitStoreNewer = 12;
inline constexpr int kExitStoreUnwritable = 13;
inline constexpr int kExitStoreCorrupt = 14;
inline constexpr int kExitPortTaken = 20;

struct Options {
  std::string data_dir;
  std::string listen = "127.0.0.1:7077";
  std::string port_file;
  bool test_clock = false;
  bool insecure = false;
  absl::Duration drain_delay = absl::ZeroDuration();
  std::string log_level = "info";
  std::string log_format = "text";
  bool version = false;
  bool help = false;
};

// INVALID_ARGUMENT, in one line, for a flag that is unknown, lacks its value,
// or has one that can't be; also for what only --insecure allows.
absl::StatusOr<Options> ParseOptions(const std::vector<std::string>& arguments);

struct HostPort {
  std::string host;  // without brackets
  int port = 0;
};
absl::StatusOr<HostPort> ParseHostPort(absl::string_view address);
// "HOST:PORT", with brackets where the host needs them.
std::string JoinHostPort(absl::string_view host, int port);
bool IsLoopback(const std::string& host);

// What --help prints.
std::string HelpText();

}  // namespace casement

#endif  // CASEMENT_SERVER_OPTIONS_H_
