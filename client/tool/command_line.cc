#include "client/tool/command_line.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

#include "client/channel.h"
#include "client/tool/commands.h"
#include "client/tool/finality_flag.h"

namespace casement::tool {
namespace {

constexpr char kAbout[] =
    "casement - events in, windows out: the command line of a Casement server";

constexpr char kFooter[] = R"(Exit codes:
  0  done
  1  the server said no, or a file could not be read or written
  2  the command is wrong
  3  no server there, or it went away for too long

Examples:
  casement stream create flights --delay 60m \
      --field origin:string:required --field delay_min:int64
  casement view create flights/daily --window tumbling:1d --group_by origin \
      --agg count=events --agg sum:delay_min
  casement ingest flights --csv flights.csv --time_column scheduled
  casement watch flights/daily)";

// Options of all commands and what was chosen.
struct Parsed {
  ServerOptions server;
  StreamCreateOptions stream_create;
  ViewCreateOptions view_create;
  DescribeOptions describe;
  IngestOptions ingest;
  WatchOptions watch;
  WindowsOptions windows;
  std::string name;
  std::string format = "text";
  bool force = false;
  std::function<int(Io&)> run;
};

CLI::App* Command(CLI::App* parent, const std::string& name,
                  const std::string& about, const std::string& examples) {
  CLI::App* app = parent->add_subcommand(name, about);
  app->footer("Examples:\n" + examples);
  return app;
}

// A flag that can be repeated, one value each time.
CLI::Option* Repeated(CLI::App* app, const std::string& name,
                      std::vector<std::string>* values,
                      const std::string& about) {
  return app->add_option(name, *values, about)->allow_extra_args(false);
}

// A flag with several values, separated by commas.
CLI::Option* List(CLI::App* app, const std::string& name,
                  std::vector<std::string>* values, const std::string& about) {
  return Repeated(app, name, values, about)->delimiter(',');
}

CLI::Option* OneOf(CLI::App* app, const std::string& name, std::string* value,
                   const std::vector<std::string>& words,
                   const std::string& about) {
  return app->add_option(name, *value, about)->check(CLI::IsMember(words));
}

void AddStreamCreate(CLI::App* stream, Parsed* parsed) {
  CLI::App* app =
      Command(stream, "create", "Create a stream",
              "  casement stream create flights --delay 60m \\\n"
              "      --field origin:string:required --field delay_min:int64\n"
              "  casement stream create flights --file flights.txtpb");
  StreamCreateOptions& o = parsed->stream_create;
  app->add_option("STREAM", o.id, "Its id, as flights")->required();
  app->add_option("--file", o.file,
                  "A definition as text-proto or JSON (casement.v1.Stream); "
                  "flags go on top");
  Repeated(app, "--field", &o.fields,
           "NAME:TYPE[:required], TYPE one of int64, double, bool, string, "
           "bytes; can be repeated");
  app->add_option("--delay", o.delay,
                  "How late events may come: the watermark is the greatest "
                  "event time less this (60m, 0)");
  app->add_flag("--asserted", o.asserted, "Producers tell the watermark");
  OneOf(app, "--combine", &o.combine, {"least", "greatest"},
        "Over several producers");
  List(app, "--required_producer", &o.required_producers,
       "No watermark before this producer has spoken; can be repeated");
  app->add_option("--idle_timeout", o.idle_timeout,
                  "A producer silent this long holds no one back");
  app->add_option("--max_future_skew", o.max_future_skew,
                  "How far ahead of the server's clock an event may be");
  OneOf(app, "--future", &o.future, {"hold", "reject", "accept"},
        "What is done with one further ahead");
  OneOf(app, "--advance", &o.advance, {"event", "batch"},
        "The watermark moves after each");
  OneOf(app, "--invalid", &o.invalid, {"reject_event", "reject_batch"},
        "What a bad event does to its batch");
  app->add_flag("--validate_only", o.validate_only, "Check, create nothing");
  app->callback([parsed] {
    parsed->run = [parsed](Io& io) {
      return StreamCreate(io, parsed->server, parsed->stream_create);
    };
  });
}

void AddDescribe(CLI::App* parent, const std::string& what,
                 const std::string& example, Parsed* parsed,
                 int (*run)(Io&, const ServerOptions&,
                            const DescribeOptions&)) {
  CLI::App* app = Command(parent, "describe",
                          "Show definition, progress and accounts", example);
  app->add_option(what, parsed->describe.name)->required();
  OneOf(app, "--format", &parsed->describe.format, {"text", "json"},
        "How to show it");
  app->callback([parsed, run] {
    parsed->run = [parsed, run](Io& io) {
      return run(io, parsed->server, parsed->describe);
    };
  });
}

void AddStream(CLI::App* root, Parsed* parsed) {
  CLI::App* stream = root->add_subcommand("stream", "Streams of events");
  stream->require_subcommand(1);
  AddStreamCreate(stream, parsed);
  CLI::App* list =
      Command(stream, "list", "List all streams", "  casement stream list");
  list->callback([parsed] {
    parsed->run = [parsed](Io& io) { return StreamList(io, parsed->server); };
  });
  AddDescribe(stream, "STREAM", "  casement stream describe flights", parsed,
              StreamDescribe);
  CLI::App* end = Command(stream, "end",
                          "End a stream for good: every window becomes final",
                          "  casement stream end flights");
  end->add_option("STREAM", parsed->name)->required();
  end->callback([parsed] {
    parsed->run = [parsed](Io& io) {
      return StreamEnd(io, parsed->server, parsed->name);
    };
  });
  CLI::App* del = Command(stream, "delete", "Delete a stream and its events",
                          "  casement stream delete flights --force");
  del->add_option("STREAM", parsed->name)->required();
  del->add_flag("--force", parsed->force, "Delete its views too");
  del->callback([parsed] {
    parsed->run = [parsed](Io& io) {
      return StreamDelete(io, parsed->server, parsed->name, parsed->force);
    };
  });
}

void AddViewCreate(CLI::App* view, Parsed* parsed) {
  CLI::App* app = Command(
      view, "create", "Create a view",
      "  casement view create flights/daily --window tumbling:1d \\\n"
      "      --group_by origin --agg count=events --agg sum:delay_min\n"
      "  casement view create flights/hourly --window sliding:1h/15m \\\n"
      "      --group_by origin --agg mean:delay_min --early every_batch");
  ViewCreateOptions& o = parsed->view_create;
  app->add_option("STREAM/VIEW", o.name, "As flights/daily")->required();
  app->add_option("--file", o.file,
                  "A definition as text-proto or JSON (casement.v1.View); "
                  "flags go on top");
  app->add_option("--window", o.window,
                  "tumbling:SIZE[+OFFSET], sliding:SIZE/PERIOD[+OFFSET], "
                  "session:GAP[/BOUNDARY[+OFFSET]]");
  OneOf(app, "--gap_rule", &o.gap_rule, {"inclusive", "exclusive"},
        "Whether an event exactly the gap later joins a session");
  List(app, "--group_by", &o.group_by, "Fields of the key, as a,b");
  Repeated(app, "--agg", &o.aggregates,
           "FUNCTION[:FIELD][=ALIAS]: count, sum, min, max, mean, "
           "distinct_count; can be repeated");
  app->add_option("--lateness", o.lateness,
                  "How long a window still takes events after its end");
  OneOf(app, "--late_rule", &o.late_rule, {"window_closed", "behind_watermark"},
        "When an event is late");
  OneOf(app, "--session_late_check", &o.session_late_check, {"merged", "own"},
        "Which session a late event is judged by");
  app->add_option("--early", o.early,
                  "Provisional results before the end: every_batch, or at "
                  "most one in this much time");
  app->add_flag("--no_on_time", o.no_on_time,
                "None when the watermark reaches the end");
  app->add_option("--late", o.late,
                  "After the end: every_batch, none, or at most one in this "
                  "much time");
  app->add_flag("--validate_only", o.validate_only, "Check, create nothing");
  app->callback([parsed] {
    parsed->run = [parsed](Io& io) {
      return ViewCreate(io, parsed->server, parsed->view_create);
    };
  });
}

void AddView(CLI::App* root, Parsed* parsed) {
  CLI::App* view = root->add_subcommand("view", "Views over streams");
  view->require_subcommand(1);
  AddViewCreate(view, parsed);
  CLI::App* list = Command(view, "list", "List the views of a stream",
                           "  casement view list flights");
  list->add_option("STREAM", parsed->name)->required();
  list->callback([parsed] {
    parsed->run = [parsed](Io& io) {
      return ViewList(io, parsed->server, parsed->name);
    };
  });
  AddDescribe(view, "STREAM/VIEW", "  casement view describe flights/daily",
              parsed, ViewDescribe);
  CLI::App* del = Command(view, "delete", "Delete a view and its results",
                          "  casement view delete flights/daily");
  del->add_option("STREAM/VIEW", parsed->name)->required();
  del->callback([parsed] {
    parsed->run = [parsed](Io& io) {
      return ViewDelete(io, parsed->server, parsed->name);
    };
  });
}

void AddIngestInput(CLI::App* app, IngestOptions* o) {
  app->add_option("STREAM", o->stream)->required();
  app->add_option("--csv", o->csv, "A CSV file (RFC 4180), or -");
  app->add_option("--jsonl", o->jsonl, "A file of JSON objects, or -");
  app->add_option("--time_column", o->time_column,
                  "The column with the event time (default: time)")
      ->each([o](const std::string&) { o->time_column_given = true; });
  OneOf(app, "--time_format", &o->time_format, {"rfc3339", "us", "ms", "s"},
        "How times are written: RFC 3339, or a number since 1970");
  Repeated(app, "--field", &o->fields,
           "COLUMN=FIELD, where they differ; can be repeated");
  app->add_option("--id_column", o->id_column, "The column with event ids");
  app->add_flag("--no_header", o->no_header, "The CSV file has no header");
  List(app, "--columns", &o->columns,
       "The names of its columns then, as time,origin,delay_min");
  app->add_option("--null", o->null_text,
                  "CSV text that stands for null (default: nothing)");
}

void AddIngest(CLI::App* root, Parsed* parsed) {
  CLI::App* app = Command(
      root, "ingest",
      "Send a file, or standard input, to a stream. A second run after a kill "
      "goes on where the first stopped (not for standard input).",
      "  casement ingest flights --csv flights.csv --time_column scheduled\n"
      "  casement ingest clicks --jsonl clicks.jsonl --time_format ms "
      "--end_of_stream\n"
      "  tail -f clicks.jsonl | casement ingest clicks --jsonl - "
      "--producer tail");
  IngestOptions& o = parsed->ingest;
  AddIngestInput(app, &o);
  app->add_option("--producer", o.producer,
                  "The name it sends under (default: from the file's name)");
  app->add_option("--batch_events", o.batch_events, "Events in a batch")
      ->check(CLI::Range(1, 1 << 20));
  app->add_flag("--rows", o.rows, "Send rows instead of columns");
  app->add_flag("--buffered", o.buffered,
                "Acknowledgements survive a kill, but not a loss of power");
  app->add_option("--rate", o.rate, "At most so many events a second");
  app->add_option("--watermark", o.watermark,
                  "At the end, say that nothing earlier than this follows");
  app->add_flag("--end_of_stream", o.end_of_stream,
                "At the end, end the stream for good");
  app->add_flag("--skip_refused", o.skip_refused,
                "Leave out batches that the server refuses whole");
  app->add_flag("--strict", o.strict,
                "Exit with 1 if anything was rejected or malformed");
  OneOf(app, "--progress", &o.progress, {"auto", "lines", "none"},
        "auto: on a terminal");
  app->add_option("--give_up_after", o.give_up_after,
                  "How long the server may be away");
  app->callback([parsed] {
    parsed->run = [parsed](Io& io) {
      return Ingest(io, parsed->server, parsed->ingest);
    };
  });
}

void AddWatch(CLI::App* root, Parsed* parsed) {
  CLI::App* app = Command(
      root, "watch",
      "Follow the results of a view: a table on a terminal, lines in a pipe",
      "  casement watch flights/daily\n"
      "  casement watch flights/daily --finality final --format jsonl \\\n"
      "      --cursor_file daily.cursor >> daily.jsonl");
  WatchOptions& o = parsed->watch;
  app->add_option("STREAM/VIEW", o.view)->required();
  OneOf(app, "--format", &o.format, {"table", "jsonl", "csv"},
        "Default: table on a terminal, else jsonl");
  List(app, "--finality", &o.finality,
       "Only these: provisional, final, corrected (retracted rows come where "
       "the row itself came)")
      ->check(CLI::IsMember(FinalityWords()));
  app->add_option("--from", o.from, "oldest (default), now, or a cursor");
  app->add_option("--cursor_file", o.cursor_file,
                  "Go on where the last run stopped, by this file");
  app->add_flag("--until_ended", o.until_ended,
                "Stop when the stream has ended and all was received");
  app->add_option("--max_rows", o.max_rows,
                  "Stop after so many rows (with --cursor_file: at the end of "
                  "the response that holds the last)")
      ->check(CLI::NonNegativeNumber);
  app->add_option("--give_up_after", o.give_up_after,
                  "How long the server may be away");
  app->callback([parsed] {
    parsed->run = [parsed](Io& io) {
      return Watch(io, parsed->server, parsed->watch);
    };
  });
}

void AddWindows(CLI::App* root, Parsed* parsed) {
  CLI::App* app =
      Command(root, "windows", "List the windows of a view as they are now",
              "  casement windows flights/daily\n"
              "  casement windows flights/daily --format csv "
              "--finality final,provisional");
  WindowsOptions& o = parsed->windows;
  app->add_option("STREAM/VIEW", o.view)->required();
  OneOf(app, "--format", &o.format, {"table", "csv", "jsonl"},
        "Default: table");
  List(app, "--finality", &o.finality,
       "Which: final, corrected (the default: both), provisional (all open "
       "windows)")
      ->check(CLI::IsMember(FinalityWords()));
  app->add_option("--min_version", o.min_version,
                  "Wait until the view has come to this version");
  app->callback([parsed] {
    parsed->run = [parsed](Io& io) {
      return Windows(io, parsed->server, parsed->windows);
    };
  });
}

void AddServer(CLI::App* root, Parsed* parsed) {
  CLI::App* server = root->add_subcommand("server", "The server itself");
  server->require_subcommand(1);
  CLI::App* info = Command(server, "info", "Show what it is and what it takes",
                           "  casement server info --wait 30s");
  OneOf(info, "--format", &parsed->format, {"text", "json"}, "How to show it");
  info->callback([parsed] {
    parsed->run = [parsed](Io& io) {
      return ServerInfo(io, parsed->server, parsed->format);
    };
  });
}

// What a person has to know of a command that could not be parsed.
std::string Fault(const CLI::App& root, const CLI::ParseError& error) {
  // CLI11 says "a subcommand is required" where a wrong one was given.
  const std::vector<std::string> unknown = root.remaining(/*recurse=*/true);
  if (!unknown.empty()) return "there is no \"" + unknown.front() + "\" here";
  return error.what();
}

std::unique_ptr<CLI::App> MakeApp(Parsed* parsed) {
  auto root = std::make_unique<CLI::App>(kAbout, "casement");
  root->require_subcommand(1);
  // So that --server can stand before and after the command.
  root->fallthrough();
  root->add_option("--server", parsed->server.server,
                   "HOST:PORT of the server (default " +
                       std::string(client::kDefaultServer) + ")");
  root->add_option("--wait", parsed->server.wait,
                   "How long to wait for a server that is not there yet (30s)");
  root->set_version_flag("--version", "casement " CASEMENT_VERSION);
  root->footer(kFooter);
  AddStream(root.get(), parsed);
  AddView(root.get(), parsed);
  AddIngest(root.get(), parsed);
  AddWatch(root.get(), parsed);
  AddWindows(root.get(), parsed);
  AddServer(root.get(), parsed);
  return root;
}

}  // namespace

int RunCommandLine(const std::vector<std::string>& args, Io& io) {
  Parsed parsed;
  parsed.server.server = client::kDefaultServer;
  const std::unique_ptr<CLI::App> root = MakeApp(&parsed);
  // CLI11 takes arguments from the back of the vector, and tells by exceptions
  // what it found; they end here.
  std::vector<std::string> reversed(args.rbegin(), args.rend());
  try {
    root->parse(reversed);
  } catch (const CLI::CallForVersion& version) {
    *io.out << version.what() << "\n";
    return kExitOk;
  } catch (const CLI::Success&) {
    *io.out << root->help();
    return kExitOk;
  } catch (const CLI::ParseError& error) {
    return ReportUsage(io, Fault(*root, error));
  }
  const int code = parsed.run(io);
  io.out->flush();
  if (code == kExitOk && !io.out->good()) {
    return ReportError(io, absl::UnknownError("can't write the output"));
  }
  return code;
}

}  // namespace casement::tool
