#include "server/options.h"

#include <arpa/inet.h>

#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace casement {
namespace {

constexpr absl::Duration kMaxDrainDelay = absl::Hours(1);

template <typename... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

absl::Status SetBool(absl::string_view name, absl::string_view value,
                     bool* flag) {
  if (value != "true" && value != "false") {
    return Bad("--", name, " must be true or false, not \"", value, "\"");
  }
  *flag = value == "true";
  return absl::OkStatus();
}

absl::Status SetOneOf(absl::string_view name, absl::string_view value,
                      const std::vector<absl::string_view>& allowed,
                      std::string* flag) {
  std::string list;
  for (absl::string_view one : allowed) {
    if (value == one) {
      *flag = std::string(value);
      return absl::OkStatus();
    }
    absl::StrAppend(&list, list.empty() ? "" : ", ", one);
  }
  return Bad("--", name, " must be one of ", list, "; not \"", value, "\"");
}

absl::Status SetDrainDelay(absl::string_view value, Options* options) {
  absl::Duration delay;
  if (!absl::ParseDuration(value, &delay) || delay < absl::ZeroDuration() ||
      delay > kMaxDrainDelay) {
    return Bad("--drain_delay must be a duration from 0 to 1h, such as 5s; ",
               "not \"", value, "\"");
  }
  options->drain_delay = delay;
  return absl::OkStatus();
}

bool IsBool(absl::string_view name) {
  return name == "test_clock" || name == "insecure" || name == "version" ||
         name == "help";
}

bool IsKnown(absl::string_view name) {
  for (absl::string_view known : {"data_dir", "listen", "port_file",
                                  "drain_delay", "log_level", "log_format"}) {
    if (name == known) return true;
  }
  return IsBool(name);
}

absl::Status SetFlag(absl::string_view name, absl::string_view value,
                     Options* options) {
  if (name == "data_dir") {
    options->data_dir = std::string(value);
  } else if (name == "listen") {
    options->listen = std::string(value);
  } else if (name == "port_file") {
    options->port_file = std::string(value);
  } else if (name == "drain_delay") {
    return SetDrainDelay(value, options);
  } else if (name == "log_level") {
    return SetOneOf(name, value, {"trace", "debug", "info", "warn", "error"},
                    &options->log_level);
  } else if (name == "log_format") {
    return SetOneOf(name, value, {"text", "json"}, &options->log_format);
  } else if (name == "test_clock") {
    return SetBool(name, value, &options->test_clock);
  } else if (name == "insecure") {
    return SetBool(name, value, &options->insecure);
  } else if (name == "version") {
    return SetBool(name, value, &options->version);
  } else if (name == "help") {
    return SetBool(name, value, &options->help);
  }
  return absl::OkStatus();
}

absl::Status Check(const Options& options) {
  if (options.help || options.version) return absl::OkStatus();
  if (options.data_dir.empty()) return Bad("--data_dir is required");
  const absl::StatusOr<HostPort> address = ParseHostPort(options.listen);
  if (!address.ok()) return address.status();
  if (!options.insecure && !IsLoopback(address->host)) {
    return Bad("--listen ", options.listen,
               " is not a loopback address: connections are not encrypted, ",
               "so this needs --insecure");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Options> ParseOptions(
    const std::vector<std::string>& arguments) {
  Options options;
  for (size_t i = 0; i < arguments.size(); ++i) {
    absl::string_view argument = arguments[i];
    if (argument == "-h") argument = "--help";
    if (!absl::StartsWith(argument, "--") || argument.size() == 2) {
      return Bad("\"", argument, "\" is not a flag; see --help");
    }
    argument.remove_prefix(2);
    const size_t equals = argument.find('=');
    const absl::string_view name = argument.substr(0, equals);
    if (!IsKnown(name)) return Bad("no flag --", name, "; see --help");
    absl::string_view value = "true";
    if (equals != absl::string_view::npos) {
      value = argument.substr(equals + 1);
    } else if (!IsBool(name)) {
      if (++i == arguments.size()) return Bad("--", name, " needs a value");
      value = arguments[i];
    }
    if (!IsBool(name) && value.empty()) return Bad("--", name, " is empty");
    if (absl::Status status = SetFlag(name, value, &options); !status.ok()) {
      return status;
    }
  }
  if (absl::Status status = Check(options); !status.ok()) return status;
  return options;
}

absl::StatusOr<HostPort> ParseHostPort(absl::string_view address) {
  const size_t colon = address.rfind(':');
  HostPort result;
  if (colon == absl::string_view::npos ||
      !absl::SimpleAtoi(address.substr(colon + 1), &result.port) ||
      result.port < 0 || result.port > 65535) {
    return Bad("--listen must be HOST:PORT, not \"", address, "\"");
  }
  absl::string_view host = address.substr(0, colon);
  const bool bracketed =
      absl::StartsWith(host, "[") && absl::EndsWith(host, "]");
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (host.empty() || (!bracketed && absl::StrContains(host, ':'))) {
    return Bad("--listen must be HOST:PORT, with an IPv6 address as ",
               "[ADDRESS]; not \"", address, "\"");
  }
  result.host = std::string(host);
  return result;
}

std::string JoinHostPort(absl::string_view host, int port) {
  return absl::StrContains(host, ':') ? absl::StrCat("[", host, "]:", port)
                                      : absl::StrCat(host, ":", port);
}

bool IsLoopback(const std::string& host) {
  if (host == "localhost") return true;
  in_addr v4 = {};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) {
    return (ntohl(v4.s_addr) >> 24) == 127;
  }
  in6_addr v6 = {};
  return inet_pton(AF_INET6, host.c_str(), &v6) == 1 &&
         IN6_IS_ADDR_LOOPBACK(&v6);
}

std::string HelpText() {
  return R"(casementd: the Casement server.

usage: casementd --data_dir DIR [flags]

  --data_dir DIR        where the store is; made if it isn't there
  --listen HOST:PORT    where to listen (127.0.0.1:7077); port 0: any free one
  --port_file FILE      write the port there once calls are served
  --insecure            listen without TLS also beyond the loopback
  --drain_delay TIME    on a stop, serve on this long after health says
                        NOT_SERVING (0s)
  --log_level LEVEL     trace, debug, info, warn or error (info)
  --log_format FORMAT   text or json (text); logs go to stderr
  --test_clock          for tests: the future guard goes by a clock that
                        TestService sets
  --version             print the version
  --help                print this

A flag's value may follow as the next word or after "=". SIGTERM and SIGINT stop
the server in good order: what was acknowledged is kept in any case.

Exit codes:
   0  stopped in good order
   1  another error; the log says which
   2  a flag is unknown or has a value that can't be
  10  the directory is in use by another process
  11  the directory is not a Casement store, and not empty
  12  the store was written by a newer version
  13  the directory can't be written
  14  the store is damaged
  20  the address can't be listened on

Examples:
  casementd --data_dir /var/lib/casement
  casementd --data_dir ./data --listen 127.0.0.1:0 --port_file ./port
  casementd --data_dir /data --listen 0.0.0.0:7077 --insecure --log_format json
)";
}

}  // namespace casement
