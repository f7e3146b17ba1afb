// casementd as a process: how it starts, how it refuses to, and how it stops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "casement/v1/admin.grpc.pb.h"
#include "casement/v1/definition.grpc.pb.h"
#include "casement/v1/result.grpc.pb.h"
#include "server/options.h"
#include "tests/rpc/status_test_util.h"
#include "tests/support/rpc.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_dir.h"

namespace casement {
namespace {

using ::testing::HasSubstr;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return std::string((std::istreambuf_iterator<char>(file)),
                     std::istreambuf_iterator<char>());
}

class DaemonTest : public testing::Test {
 protected:
  support::ServerProcess NewProcess(const std::string& data_dir,
                                    std::vector<std::string> flags = {}) {
    support::ServerProcess::Options options;
    const auto binary = support::FindServerBinary("");
    EXPECT_TRUE(binary.ok()) << binary.status();
    if (binary.ok()) options.binary = *binary;
    options.data_dir = data_dir;
    options.more_flags = std::move(flags);
    options.log_file = dir_.Sub("log");
    return support::ServerProcess(options);
  }
  // The code that a server which can't start ends with.
  int CodeOf(const std::string& data_dir, std::vector<std::string> flags = {}) {
    support::ServerProcess process = NewProcess(data_dir, std::move(flags));
    const absl::Status status = process.Start();
    EXPECT_FALSE(status.ok());
    const std::string message(status.message());
    const std::string before = "exited with code ";
    const size_t at = message.find(before);
    EXPECT_NE(at, std::string::npos) << message;
    return at == std::string::npos
               ? -1
               : std::atoi(message.c_str() + at + before.size());
  }

  support::TempDir dir_;
};

TEST_F(DaemonTest, StopsInGoodOrderWithCallsThatLast) {
  support::ServerProcess process = NewProcess(dir_.Sub("data"));
  const absl::Status started = process.Start();
  ASSERT_TRUE(started.ok()) << started;
  const auto channel = process.NewChannel();
  const auto definitions = v1::DefinitionService::NewStub(channel);
  v1::CreateStreamRequest create;
  create.set_stream_id("s");
  create.mutable_stream()->mutable_watermark_policy()->mutable_asserted();
  v1::Stream stream;
  ASSERT_TRUE(support::Call(*definitions,
                            &v1::DefinitionService::Stub::CreateStream, create,
                            &stream)
                  .ok());
  v1::CreateViewRequest create_view;
  create_view.set_parent("streams/s");
  create_view.set_view_id("v");
  v1::ViewSpec* spec = create_view.mutable_view()->mutable_spec();
  spec->mutable_window()->mutable_tumbling()->mutable_size()->set_seconds(1);
  spec->add_aggregates()->set_alias("n");
  spec->mutable_aggregates(0)->set_function(v1::AggregateSpec::FUNCTION_COUNT);
  v1::View view;
  ASSERT_TRUE(support::Call(*definitions,
                            &v1::DefinitionService::Stub::CreateView,
                            create_view, &view)
                  .ok());
  const auto results = v1::ResultService::NewStub(channel);
  grpc::ClientContext context;
  v1::SubscribeRequest subscribe;
  subscribe.set_view("streams/s/views/v");
  auto reader = results->Subscribe(&context, subscribe);
  v1::SubscribeResponse response;
  ASSERT_TRUE(reader->Read(&response));

  const absl::StatusOr<int> code = process.Terminate();
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(*code, kExitClean);
  while (reader->Read(&response)) {
  }
  EXPECT_EQ(rpc::ReasonOf(reader->Finish()), "DRAINING");
}

TEST_F(DaemonTest, TellsItsPortInAFile) {
  const std::string port_file = dir_.Sub("port");
  support::ServerProcess process =
      NewProcess(dir_.Sub("data"), {"--port_file", port_file});
  ASSERT_TRUE(process.Spawn().ok());
  ASSERT_TRUE(process.WaitUntilServing().ok());
  // Written once calls are served, which a client may see a little before.
  while (!std::filesystem::exists(port_file) && process.running()) {
  }
  const std::string text = ReadFile(port_file);
  EXPECT_EQ(absl::StrCat("127.0.0.1:", text.substr(0, text.size() - 1)),
            process.address());
}

TEST_F(DaemonTest, ABadFlagIsRefused) {
  EXPECT_EQ(CodeOf(dir_.Sub("data"), {"--bogus"}), kExitBadFlag);
  EXPECT_EQ(CodeOf(dir_.Sub("data"), {"--listen", "0.0.0.0:0"}), kExitBadFlag);
  EXPECT_FALSE(std::filesystem::exists(dir_.Sub("data")));
}

TEST_F(DaemonTest, ADirectoryInUseIsRefused) {
  support::ServerProcess process = NewProcess(dir_.Sub("data"));
  ASSERT_TRUE(process.Start().ok());
  EXPECT_EQ(CodeOf(dir_.Sub("data")), kExitStoreInUse);
}

TEST_F(DaemonTest, AForeignDirectoryIsRefusedAndUnchanged) {
  std::filesystem::create_directory(dir_.Sub("data"));
  std::ofstream(dir_.Sub("data/file")) << "mine";
  EXPECT_EQ(CodeOf(dir_.Sub("data")), kExitStoreForeign);
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(dir_.Sub("data"))) {
    EXPECT_EQ(entry.path().filename(), "file");
    ++files;
  }
  EXPECT_EQ(files, 1);
  EXPECT_EQ(ReadFile(dir_.Sub("data/file")), "mine");
}

TEST_F(DaemonTest, APlaceThatCantBeWrittenIsRefused) {
  EXPECT_EQ(CodeOf("/proc/casement"), kExitStoreUnwritable);
}

TEST_F(DaemonTest, ATakenPortIsRefusedBeforeTheStoreIsTouched) {
  support::ServerProcess process = NewProcess(dir_.Sub("data"));
  ASSERT_TRUE(process.Start().ok());
  EXPECT_EQ(CodeOf(dir_.Sub("other"), {"--listen", process.address()}),
            kExitPortTaken);
  EXPECT_FALSE(std::filesystem::exists(dir_.Sub("other")));
}

TEST_F(DaemonTest, LogsAsJson) {
  support::ServerProcess process =
      NewProcess(dir_.Sub("data"), {"--log_format", "json"});
  ASSERT_TRUE(process.Start().ok());
  ASSERT_TRUE(process.Terminate().ok());
  const std::string log = ReadFile(dir_.Sub("log"));
  EXPECT_THAT(log, HasSubstr(absl::StrCat(
                       "\"level\":\"info\",\"message\":\"listening on ",
                       process.address(), "\"}")));
}

}  // namespace
}  // namespace casement
