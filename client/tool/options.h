// What the commands take, as the command line has parsed it. Plain values: what
// they mean is checked by the commands.

#ifndef CASEMENT_CLIENT_TOOL_OPTIONS_H_
#define CASEMENT_CLIENT_TOOL_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace casement::tool {

// For all commands.
struct ServerOptions {
  std::string server;
  // How long to wait for a server that isn't there; a duration.
  std::string wait = "0";
};

struct StreamCreateOptions {
  std::string id;
  std::string file;
  std::vector<std::string> fields;
  std::string delay;
  bool asserted = false;
  std::string combine;
  std::vector<std::string> required_producers;
  std::string idle_timeout;
  std::string max_future_skew;
  std::string future;
  std::string advance;
  std::string invalid;
  bool validate_only = false;
};

struct ViewCreateOptions {
  std::string name;
  std::string file;
  std::string window;
  std::string gap_rule;
  std::vector<std::string> group_by;
  std::vector<std::string> aggregates;
  std::string lateness;
  std::string late_rule;
  std::string session_late_check;
  std::string early;
  bool no_on_time = false;
  std::string late;
  bool validate_only = false;
};

struct DescribeOptions {
  std::string name;
  std::string format = "text";
};

struct IngestOptions {
  std::string stream;
  std::string csv;
  std::string jsonl;
  std::string producer;
  std::string time_column = "time";
  bool time_column_given = false;
  std::string time_format = "rfc3339";
  std::string id_column;
  // "column=field" or "column".
  std::vector<std::string> fields;
  bool no_header = false;
  std::vector<std::string> columns;
  std::string null_text;
  int batch_events = 1000;
  bool rows = false;
  bool buffered = false;
  double rate = 0;
  std::string watermark;
  bool end_of_stream = false;
  bool skip_refused = false;
  bool strict = false;
  std::string progress = "auto";
  std::string give_up_after = "5m";
};

struct WatchOptions {
  std::string view;
  // Empty: a table on a terminal, else jsonl.
  std::string format;
  std::vector<std::string> finality;
  std::string from = "oldest";
  bool from_given = false;
  std::string cursor_file;
  bool until_ended = false;
  int64_t max_rows = 0;
  std::string give_up_after = "5m";
};

struct WindowsOptions {
  std::string view;
  std::string format = "table";
  std::vector<std::string> finality;
  int64_t min_version = 0;
};

}  // namespace casement::tool

#endif  // CASEMENT_CLIENT_TOOL_OPTIONS_H_
