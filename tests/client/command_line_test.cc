// The commands against the fake server: what a person types and sees.

#include "client/tool/command_line.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "client/tool/cursor_file.h"
#include "tests/client/fake_server.h"

namespace casement::tool {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CommandLineTest : public ::testing::Test {
 protected:
  CommandLineTest() {
    char pattern[] = "/tmp/casement_tool_XXXXXX";
    dir_ = mkdtemp(pattern);
  }
  ~CommandLineTest() override { std::filesystem::remove_all(dir_); }

  int Run(std::vector<std::string> args) {
    args.insert(args.begin(), {"--server", server_.address()});
    return RunPlain(args);
  }

  int RunPlain(const std::vector<std::string>& args) {
    std::ostringstream out;
    std::ostringstream err;
    Io io;
    io.out = &out;
    io.err = &err;
    io.in_fd = in_fd_;
    const int code = RunCommandLine(args, io);
    out_ = out.str();
    err_ = err.str();
    return code;
  }

  std::string File(const std::string& name, const std::string& content) {
    const std::string path = dir_ + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  static std::string Content(const std::string& path) {
    std::ifstream file(path);
    std::stringstream content;
    content << file.rdbuf();
    return content.str();
  }

  void AddResult(int64_t version, const std::string& name,
                 v1::Finality finality = v1::FINALITY_FINAL) {
    v1::WindowResult row;
    row.set_view("streams/s/views/v");
    row.set_version(version);
    row.set_finality(finality);
    row.mutable_key()->add_parts()->set_string_value(name);
    row.mutable_window()->mutable_start_time();
    row.mutable_window()->mutable_end_time()->set_seconds(version);
    row.add_values()->set_int64_value(version);
    server_.results.log.push_back(row);
  }

  // The versions in lines of JSON.
  std::vector<int64_t> Versions(const std::string& text) {
    std::vector<int64_t> versions;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      versions.push_back(nlohmann::json::parse(line)["version"]);
    }
    return versions;
  }

  client::FakeServer server_;
  std::string dir_;
  std::string out_;
  std::string err_;
  int in_fd_ = -1;
};

TEST_F(CommandLineTest, HelpAndVersion) {
  EXPECT_EQ(RunPlain({"--help"}), kExitOk);
  EXPECT_THAT(out_, HasSubstr("ingest"));
  EXPECT_THAT(out_, HasSubstr("Exit codes"));
  EXPECT_EQ(RunPlain({"view", "create", "--help"}), kExitOk);
  EXPECT_THAT(out_, HasSubstr("Usage: casement view create"));
  EXPECT_THAT(out_, HasSubstr("--session_late_check"));
  EXPECT_THAT(out_, HasSubstr("Examples"));
  EXPECT_EQ(RunPlain({"--version"}), kExitOk);
  EXPECT_THAT(out_, StartsWith("casement "));
}

TEST_F(CommandLineTest, WrongCommandsSayWhatIsWrong) {
  EXPECT_EQ(RunPlain({}), kExitUsage);
  EXPECT_EQ(RunPlain({"windo"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("windo"));
  EXPECT_EQ(RunPlain({"stream", "create", "s", "--delai", "1m"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("--delai"));
  EXPECT_EQ(RunPlain({"stream", "create", "s", "--delay", "soon"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("soon"));
  EXPECT_EQ(RunPlain({"watch", "flights"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("STREAM/VIEW"));
  EXPECT_EQ(RunPlain({"watch", "s/v", "--finality", "finished"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("finished"));
  EXPECT_EQ(RunPlain({"ingest", "s"}), kExitUsage);
}

TEST_F(CommandLineTest, NoServerHasItsOwnExitCode) {
  server_.Stop();
  EXPECT_EQ(Run({"server", "info"}), kExitUnavailable);
  EXPECT_THAT(err_, HasSubstr("hint"));
}

TEST_F(CommandLineTest, ErrorsOfTheServerAreOneLine) {
  EXPECT_EQ(Run({"stream", "describe", "none"}), kExitFailed);
  EXPECT_EQ(err_, "casement: there is no stream \"streams/none\"\n");
}

TEST_F(CommandLineTest, CreatesAndListsStreams) {
  EXPECT_EQ(Run({"stream", "create", "t", "--delay", "60m", "--field",
                 "a:int64", "--field", "b:string:required"}),
            kExitOk);
  const v1::Stream& stream = server_.definitions.streams["streams/t"];
  EXPECT_EQ(stream.fields_size(), 2);
  EXPECT_EQ(stream.watermark_policy().bounded_delay().max_delay().seconds(),
            3600);
  EXPECT_EQ(Run({"stream", "list"}), kExitOk);
  EXPECT_THAT(out_, HasSubstr("\ns "));
  EXPECT_THAT(out_, HasSubstr("\nt "));
}

TEST_F(CommandLineTest, CreatesAndDescribesViews) {
  EXPECT_EQ(
      Run({"view", "create", "s/w", "--window", "sliding:1h/15m", "--group_by",
           "name,ok", "--agg", "count", "--agg", "sum:amount=total"}),
      kExitOk);
  const v1::ViewSpec& spec =
      server_.definitions.views["streams/s/views/w"].spec();
  EXPECT_THAT(spec.group_by(), ElementsAre("name", "ok"));
  EXPECT_EQ(spec.aggregates(1).alias(), "total");
  server_.admin.stats.set_late_events(77);
  server_.admin.stats.mutable_progress()->mutable_watermark_time()->set_seconds(
      -99'999'999'999);
  EXPECT_EQ(Run({"view", "describe", "s/w"}), kExitOk);
  EXPECT_THAT(out_, HasSubstr("sliding, size 1h, every 15m"));
  EXPECT_THAT(out_, HasSubstr("77"));
  EXPECT_EQ(Run({"view", "describe", "s/w", "--format", "json"}), kExitOk);
  const auto json = nlohmann::json::parse(out_);
  EXPECT_EQ(json["accounts"]["late"], 77);
  EXPECT_EQ(json["progress"]["watermark_time"], "-99999999999000000");
  EXPECT_EQ(json["definition"]["spec"]["group_by"][1], "ok");
}

// --- ingest ---

TEST_F(CommandLineTest, IngestsCsvAndSumsUp) {
  const std::string path = File("data.csv",
                                "time,name,amount\n"
                                "5,a,1\n"
                                "-5,b,2\n"     // Late, says the fake.
                                "never,c,3\n"  // Has no time.
                                "6,d,four\n"   // Of the wrong type.
                                "7,e\n"        // Too short to be sent.
                                "8,f,6\n");
  EXPECT_EQ(Run({"ingest", "s", "--csv", path, "--time_format", "us"}), kExitOk)
      << err_;
  EXPECT_THAT(out_, HasSubstr("read         6\n"));
  EXPECT_THAT(out_, HasSubstr("received     5\n"));
  EXPECT_THAT(out_, HasSubstr("accepted     3\n"));
  EXPECT_THAT(out_, HasSubstr("late         1\n"));
  EXPECT_THAT(out_, HasSubstr("rejected     2\n"));
  EXPECT_THAT(out_, HasSubstr("malformed    1\n"));
  EXPECT_THAT(out_, HasSubstr("MISSING_TIME: 1\n"));
  EXPECT_THAT(out_, HasSubstr("line 4: MISSING_TIME: time \"never\""));
  EXPECT_THAT(out_, HasSubstr("line 5: WRONG_TYPE: amount: \"four\""));
  EXPECT_THAT(out_, HasSubstr("line 6: not sent: 2 fields instead of 3"));
  EXPECT_EQ(server_.ingest.Events("streams/s/producers/data").size(), 5);
  EXPECT_EQ(Run({"ingest", "s", "--csv", path, "--time_format", "us",
                 "--producer", "again", "--strict"}),
            kExitFailed);
}

TEST_F(CommandLineTest, IngestEndsTheStreamWhenToldTo) {
  const std::string path = File("data.jsonl", "{\"time\":1,\"amount\":2}\n");
  EXPECT_EQ(Run({"ingest", "s", "--jsonl", path, "--time_format", "us",
                 "--watermark", "1970-01-01T00:00:01Z", "--end_of_stream"}),
            kExitOk)
      << err_;
  EXPECT_THAT(server_.definitions.ended, ElementsAre("streams/s"));
  const auto state = server_.ingest.Get("streams/s/producers/data");
  EXPECT_EQ(state.batches.back().watermark_time().seconds(), 1);
  EXPECT_EQ(server_.ingest.closed_at(), state.last_sequence);
}

TEST_F(CommandLineTest, IngestGoesOnWhereAnEarlierRunStopped) {
  std::string content = "time,amount\n";
  for (int i = 0; i < 20; ++i) {
    content += std::to_string(i) + "," + std::to_string(i) + "\n";
  }
  const std::string path = File("data.csv", content);
  const std::vector<std::string> command = {
      "ingest",         "s", "--csv",           path, "--time_format", "us",
      "--batch_events", "3", "--give_up_after", "0"};
  // The first run dies after four batches were taken, of which it may have
  // heard or not.
  server_.ingest.break_after = {4};
  EXPECT_EQ(Run(command), kExitUnavailable);
  EXPECT_EQ(server_.ingest.Events("streams/s/producers/data").size(), 12);
  EXPECT_EQ(Run(command), kExitOk) << err_;
  EXPECT_THAT(err_, HasSubstr("up to line 13"));
  EXPECT_THAT(out_, HasSubstr("received     8\n"));
  EXPECT_THAT(out_, HasSubstr("accepted 20"));
  const auto events = server_.ingest.Events("streams/s/producers/data");
  ASSERT_EQ(events.size(), 20);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(events[i].fields.at("amount"), client::Value(int64_t{i}));
  }
  EXPECT_EQ(Run(command), kExitOk);
  EXPECT_THAT(out_, HasSubstr("already sent"));
  EXPECT_EQ(server_.ingest.Events("streams/s/producers/data").size(), 20);
  // What is added later is sent then.
  std::ofstream(path, std::ios::app) << "20,20\n";
  EXPECT_EQ(Run(command), kExitOk);
  EXPECT_EQ(server_.ingest.Events("streams/s/producers/data").size(), 21);
  // Another file of the name is not.
  File("data.csv", "time,amount\n1,1\n");
  EXPECT_EQ(Run(command), kExitFailed);
  EXPECT_THAT(err_, HasSubstr("choose another --producer"));
}

TEST_F(CommandLineTest, IngestsStandardInput) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string content = "{\"time\":1}\n{\"time\":2}\n";
  ASSERT_EQ(write(ends[1], content.data(), content.size()), content.size());
  close(ends[1]);
  in_fd_ = ends[0];
  EXPECT_EQ(Run({"ingest", "s", "--jsonl", "-", "--time_format", "us"}),
            kExitOk);
  close(ends[0]);
  EXPECT_THAT(err_, HasSubstr("can't be gone on with"));
  const auto state = server_.ingest.Get("streams/s/producers/stdin");
  EXPECT_EQ(state.accepted, 2);
  EXPECT_EQ(state.position, "");
}

TEST_F(CommandLineTest, AWrongIngestShutsOutNoOne) {
  const std::string path = File("data.csv", "when,amount\n1,1\n");
  EXPECT_EQ(Run({"ingest", "s", "--csv", path}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("--time_column"));
  EXPECT_EQ(server_.ingest.Get("streams/s/producers/data").epoch, 0);
  EXPECT_EQ(Run({"ingest", "s", "--csv", dir_ + "/none.csv"}), kExitFailed);
}

TEST_F(CommandLineTest, BatchesThatAreRefusedWholeNameTheirLines) {
  server_.ingest.judge = [](const v1::Batch& batch) {
    for (const auto& event : client::Decode(batch)) {
      if (event.fields.count("amount") == 0) {
        return client::ServiceError(grpc::StatusCode::INVALID_ARGUMENT,
                                    "INVALID_FIELD", "1 bad event");
      }
    }
    return grpc::Status::OK;
  };
  const std::string path =
      File("data.csv", "time,amount\n1,1\n2,2\n3,\n4,4\n5,5\n6,6\n");
  EXPECT_EQ(Run({"ingest", "s", "--csv", path, "--time_format", "us",
                 "--batch_events", "2"}),
            kExitFailed);
  EXPECT_THAT(err_, HasSubstr("1 bad event"));
  EXPECT_EQ(
      Run({"ingest", "s", "--csv", path, "--time_format", "us",
           "--batch_events", "2", "--producer", "other", "--skip_refused"}),
      kExitOk)
      << err_;
  EXPECT_THAT(out_, HasSubstr("refused      2\n"));
  EXPECT_THAT(out_, HasSubstr("line 4"));
  EXPECT_EQ(server_.ingest.Events("streams/s/producers/other").size(), 4);
}

// --- watch and windows ---

TEST_F(CommandLineTest, WatchWritesLinesUntilTheEnd) {
  for (int i = 1; i <= 5; ++i) AddResult(i, "k");
  server_.results.ended = true;
  EXPECT_EQ(Run({"watch", "s/v", "--until_ended"}), kExitOk) << err_;
  EXPECT_THAT(Versions(out_), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(
      nlohmann::json::parse(out_.substr(0, out_.find('\n')))["key"]["name"],
      "k");
}

TEST_F(CommandLineTest, WatchStopsAfterSoManyRows) {
  for (int i = 1; i <= 5; ++i) AddResult(i, "k");
  server_.results.results_per_response = 2;
  EXPECT_EQ(Run({"watch", "s/v", "--max_rows", "3", "--format", "csv"}),
            kExitOk);
  EXPECT_EQ(std::count(out_.begin(), out_.end(), '\n'), 4);
  EXPECT_THAT(out_, StartsWith("view,revision,name,window_start"));
}

TEST_F(CommandLineTest, ACursorFileLeavesNoGapAndNoRepeat) {
  for (int i = 1; i <= 7; ++i) AddResult(i, "k");
  server_.results.results_per_response = 2;
  server_.results.ended = true;
  const std::string cursor = dir_ + "/cursor";
  std::vector<int64_t> all;
  for (int run = 0; run < 5; ++run) {
    EXPECT_EQ(Run({"watch", "s/v", "--cursor_file", cursor, "--max_rows", "1",
                   "--until_ended"}),
              kExitOk)
        << err_;
    // A cursor covers a whole response, so whole ones are written.
    for (const int64_t version : Versions(out_)) all.push_back(version);
  }
  EXPECT_THAT(all, ElementsAre(1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(out_, "");
  EXPECT_THAT(Content(cursor), StartsWith("streams/s/views/v "));
  // A file of another view is refused.
  server_.definitions.views["streams/s/views/w"];
  EXPECT_EQ(Run({"watch", "s/w", "--cursor_file", cursor}), kExitFailed);
  EXPECT_THAT(err_, HasSubstr("streams/s/views/v"));
}

TEST_F(CommandLineTest, ARowIsWrittenBeforeItsCursor) {
  AddResult(1, "k");
  AddResult(2, "k");
  const std::string cursor = dir_ + "/cursor";
  std::ostringstream out;
  // The output fails with the second row: its cursor must not be kept.
  class Failing : public std::stringbuf {
    int sync() override { return ++syncs_ > 2 ? -1 : 0; }
    int syncs_ = 0;
  } buffer;
  std::ostream failing(&buffer);
  std::ostringstream err;
  Io io;
  io.out = &failing;
  io.err = &err;
  EXPECT_EQ(RunCommandLine({"--server", server_.address(), "watch", "s/v",
                            "--cursor_file", cursor},
                           io),
            kExitFailed);
  EXPECT_EQ(Content(cursor), "streams/s/views/v " + CursorText("c1") + "\n");
}

TEST_F(CommandLineTest, WatchTakesPlacesAndFilters) {
  for (int i = 1; i <= 3; ++i) AddResult(i, "k");
  server_.results.ended = true;
  EXPECT_EQ(Run({"watch", "s/v", "--until_ended", "--from", "now"}), kExitOk);
  EXPECT_EQ(out_, "");
  EXPECT_EQ(Run({"watch", "s/v", "--until_ended", "--from", CursorText("c2"),
                 "--finality", "final,corrected"}),
            kExitOk);
  EXPECT_THAT(Versions(out_), ElementsAre(3));
  EXPECT_THAT(server_.results.requests.back().finalities(),
              ElementsAre(v1::FINALITY_FINAL, v1::FINALITY_CORRECTED));
  EXPECT_EQ(Run({"watch", "s/v", "--from", "!!"}), kExitUsage);
  EXPECT_EQ(Run({"watch", "s/v", "--from", CursorText("x")}), kExitFailed);
  EXPECT_THAT(err_, HasSubstr("hint"));
}

TEST_F(CommandLineTest, RowsOfUnknownFinalityAreLeftOut) {
  AddResult(1, "k", static_cast<v1::Finality>(55));
  AddResult(2, "k");
  server_.results.ended = true;
  EXPECT_EQ(Run({"watch", "s/v", "--until_ended"}), kExitOk);
  EXPECT_THAT(Versions(out_), ElementsAre(2));
}

TEST_F(CommandLineTest, WatchGoesOnOverABreak) {
  for (int i = 1; i <= 4; ++i) AddResult(i, "k");
  server_.results.break_after = {2};
  server_.results.ended = true;
  EXPECT_EQ(Run({"watch", "s/v", "--until_ended"}), kExitOk);
  EXPECT_THAT(Versions(out_), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(err_, HasSubstr("connected again"));
}

TEST_F(CommandLineTest, WindowsListsAllPages) {
  for (int i = 1; i <= 5; ++i) AddResult(i, "key" + std::to_string(i));
  EXPECT_EQ(Run({"windows", "s/v", "--format", "jsonl"}), kExitOk);
  EXPECT_THAT(Versions(out_), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(Run({"windows", "s/v", "--format", "csv"}), kExitOk);
  EXPECT_EQ(std::count(out_.begin(), out_.end(), '\n'), 6);
  EXPECT_EQ(Run({"windows", "s/v"}), kExitOk);
  EXPECT_EQ(std::count(out_.begin(), out_.end(), '\n'), 6);
  EXPECT_THAT(out_, HasSubstr("key5"));
  EXPECT_THAT(out_, Not(HasSubstr("START\n")));
}

}  // namespace
}  // namespace casement::tool
