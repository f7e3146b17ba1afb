#include "server/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/logging.h"

namespace casement {
namespace {

using ::testing::HasSubstr;

std::string Complaint(const std::vector<std::string>& arguments) {
  const absl::StatusOr<Options> options = ParseOptions(arguments);
  return options.ok() ? "" : std::string(options.status().message());
}

TEST(OptionsTest, ReadsEveryFlagInBothForms) {
  const auto options =
      ParseOptions({"--data_dir", "/d", "--listen=[::1]:0", "--port_file", "p",
                    "--test_clock", "--insecure=true", "--drain_delay=1500ms",
                    "--log_level", "warn", "--log_format=json"});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->data_dir, "/d");
  EXPECT_EQ(options->listen, "[::1]:0");
  EXPECT_EQ(options->port_file, "p");
  EXPECT_TRUE(options->test_clock);
  EXPECT_TRUE(options->insecure);
  EXPECT_EQ(options->drain_delay, absl::Milliseconds(1500));
  EXPECT_EQ(options->log_level, "warn");
  EXPECT_EQ(options->log_format, "json");
}

TEST(OptionsTest, HasDefaults) {
  const auto options = ParseOptions({"--data_dir=d"});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->listen, "127.0.0.1:7077");
  EXPECT_FALSE(options->test_clock);
  EXPECT_EQ(options->drain_delay, absl::ZeroDuration());
}

TEST(OptionsTest, WhatIsWrongIsNamedInOneLine) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "--data_dir"},
      {{"--data_dir"}, "--data_dir"},
      {{"--data_dir="}, "--data_dir"},
      {{"--data_dir=d", "--bogus"}, "--bogus"},
      {{"--data_dir=d", "word"}, "word"},
      {{"--data_dir=d", "--"}, "--"},
      {{"--data_dir=d", "--listen=nowhere"}, "HOST:PORT"},
      {{"--data_dir=d", "--listen=:80"}, "HOST:PORT"},
      {{"--data_dir=d", "--listen=::1:80"}, "[ADDRESS]"},
      {{"--data_dir=d", "--listen=127.0.0.1:65536"}, "HOST:PORT"},
      {{"--data_dir=d", "--listen=127.0.0.1:-1"}, "HOST:PORT"},
      {{"--data_dir=d", "--drain_delay=soon"}, "--drain_delay"},
      {{"--data_dir=d", "--drain_delay=-1s"}, "--drain_delay"},
      {{"--data_dir=d", "--drain_delay=2h"}, "--drain_delay"},
      {{"--data_dir=d", "--log_level=loud"}, "--log_level"},
      {{"--data_dir=d", "--log_format=xml"}, "--log_format"},
      {{"--data_dir=d", "--insecure=perhaps"}, "--insecure"},
  };
  for (const auto& [arguments, expected] : cases) {
    const std::string complaint = Complaint(arguments);
    EXPECT_THAT(complaint, HasSubstr(expected));
    EXPECT_EQ(complaint.find('\n'), std::string::npos);
  }
}

TEST(OptionsTest, BeyondLoopbackNeedsInsecure) {
  for (const char* address : {"0.0.0.0:1", "[::]:1", "192.168.0.1:1",
                              "example.org:1", "128.0.0.1:1"}) {
    EXPECT_THAT(Complaint({"--data_dir=d", "--listen", address}),
                HasSubstr("--insecure"));
    EXPECT_EQ(Complaint({"--data_dir=d", "--insecure", "--listen", address}),
              "");
  }
  for (const char* address :
       {"127.0.0.1:0", "127.8.9.1:1", "localhost:1", "[::1]:1"}) {
    EXPECT_EQ(Complaint({"--data_dir=d", "--listen", address}), "");
  }
}

TEST(OptionsTest, HelpNeedsNothingElse) {
  EXPECT_TRUE(ParseOptions({"--help"})->help);
  EXPECT_TRUE(ParseOptions({"-h"})->help);
  EXPECT_TRUE(ParseOptions({"--version"})->version);
}

TEST(OptionsTest, HelpNamesEveryExitCode) {
  const std::string help = HelpText();
  for (int code : {kExitClean, kExitOther, kExitBadFlag, kExitStoreInUse,
                   kExitStoreForeign, kExitStoreNewer, kExitStoreUnwritable,
                   kExitStoreCorrupt, kExitPortTaken}) {
    EXPECT_THAT(help, HasSubstr("  " + std::to_string(code) + "  "));
  }
}

TEST(OptionsTest, HostsAreJoinedAsTheyAreSplit) {
  for (const char* address : {"127.0.0.1:7", "[::1]:7", "localhost:7"}) {
    const auto split = ParseHostPort(address);
    ASSERT_TRUE(split.ok());
    EXPECT_EQ(JoinHostPort(split->host, split->port), address);
  }
}

TEST(LoggingTest, JsonIsEscaped) {
  EXPECT_EQ(EscapeJson("a \"b\" \\ \n\x01"), "a \\\"b\\\" \\\\ \\u000a\\u0001");
}

}  // namespace
}  // namespace casement
