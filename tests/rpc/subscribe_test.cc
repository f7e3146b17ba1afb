// Subscribe and ListWindows over a real connection, with a runtime in the
// test's hands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "absl/strings/escaping.h"
#include "server/rpc/cursor.h"
#include "tests/rpc/fake_runtime.h"
#include "tests/rpc/server_fixture.h"
#include "tests/rpc/status_test_util.h"

namespace casement::rpc {
namespace {

using ::testing::ElementsAre;
using v1::SubscribeRequest;
using v1::SubscribeResponse;

engine::Result MakeResult(engine::Version version, engine::TimeUs start) {
  engine::Result result;
  result.window = {start, start + 10'000'000};
  result.version = version;
  result.values = {int64_t{3}};
  result.event_count = 3;
  result.first_event_time = start;
  result.last_event_time = start + 1;
  return result;
}

runtime::LogChunk Chunk(runtime::LogPosition position,
                        engine::Version served_version, bool caught_up) {
  runtime::LogChunk chunk;
  chunk.position = position;
  chunk.served_version = served_version;
  chunk.caught_up = caught_up;
  if (caught_up) {
    chunk.progress = {.watermark = served_version * 1'000'000,
                      .version = served_version};
  }
  chunk.head_progress = {.watermark = 99'000'000, .version = 99};
  return chunk;
}

class SubscribeTest : public testing::Test {
 protected:
  SubscribeTest() {
    runtime_.log = std::make_shared<FakeLogReader>(runtime::LogPosition{2, 0});
    server_.server().Serve(&runtime_);
    request_.set_view("streams/s/views/v");
  }

  void Start() {
    context_ = NewContext();
    stream_ = server_.results->Subscribe(context_.get(), request_);
  }
  SubscribeResponse Read() {
    SubscribeResponse response;
    EXPECT_TRUE(stream_->Read(&response));
    return response;
  }
  grpc::Status End() {
    SubscribeResponse response;
    EXPECT_FALSE(stream_->Read(&response)) << response.DebugString();
    return stream_->Finish();
  }
  static runtime::LogPosition PositionOf(const SubscribeResponse& response) {
    const auto cursor = DecodeCursor(response.cursor());
    EXPECT_TRUE(cursor.ok()) << cursor.status();
    return cursor.ok() ? cursor->position : runtime::LogPosition();
  }

  FakeRuntime runtime_;
  TestServer server_;
  SubscribeRequest request_;
  std::unique_ptr<grpc::ClientContext> context_;
  std::unique_ptr<grpc::ClientReader<SubscribeResponse>> stream_;
};

TEST_F(SubscribeTest, OpenedBacklogSyncedLive) {
  runtime::LogChunk first = Chunk({4, 1}, 3, false);
  first.results = {MakeResult(3, 0), MakeResult(4, 10)};
  first.partial_version = true;
  runtime_.log->Add(first);
  runtime::LogChunk second = Chunk({5, 0}, 5, true);
  second.results = {MakeResult(4, 20)};
  runtime_.log->Add(second);
  Start();

  SubscribeResponse response = Read();
  ASSERT_TRUE(response.has_opened()) << response.DebugString();
  EXPECT_EQ(response.opened().revision(), "1");
  EXPECT_EQ(response.opened().head_progress().version(), 5);
  EXPECT_EQ(PositionOf(response), (runtime::LogPosition{2, 0}));

  response = Read();
  ASSERT_EQ(response.results().results_size(), 2) << response.DebugString();
  EXPECT_TRUE(response.results().partial_version());
  EXPECT_EQ(response.results().results(0).version(), 3);
  EXPECT_EQ(response.results().results(0).view(), "streams/s/views/v");
  EXPECT_EQ(response.results().results(0).values(0).int64_value(), 3);
  EXPECT_EQ(response.served_version(), 3);
  EXPECT_EQ(PositionOf(response), (runtime::LogPosition{4, 1}));

  response = Read();
  ASSERT_EQ(response.results().results_size(), 1);
  EXPECT_FALSE(response.results().partial_version());
  EXPECT_EQ(response.served_version(), 5);

  response = Read();
  ASSERT_TRUE(response.has_synced()) << response.DebugString();
  EXPECT_EQ(response.synced().progress().watermark_time().seconds(), 5);
  EXPECT_EQ(PositionOf(response), (runtime::LogPosition{5, 0}));

  runtime::LogChunk live = Chunk({6, 0}, 6, true);
  live.results = {MakeResult(6, 30)};
  runtime_.log->Add(live);
  response = Read();
  ASSERT_EQ(response.results().results_size(), 1) << response.DebugString();
  EXPECT_EQ(response.served_version(), 6);
}

TEST_F(SubscribeTest, AMovedVersionIsToldThoughNothingMatched) {
  Start();
  EXPECT_TRUE(Read().has_opened());
  EXPECT_TRUE(Read().has_synced());
  runtime_.log->Add(Chunk({7, 12}, 7, true));
  const SubscribeResponse response = Read();
  ASSERT_TRUE(response.has_heartbeat()) << response.DebugString();
  EXPECT_EQ(response.served_version(), 7);
  EXPECT_EQ(PositionOf(response), (runtime::LogPosition{7, 12}));
  EXPECT_EQ(response.heartbeat().progress().version(), 7);
  EXPECT_EQ(response.heartbeat().progress().watermark_time().seconds(), 7);
  EXPECT_EQ(response.heartbeat().head_progress().version(), 99);
}

TEST_F(SubscribeTest, ProgressIsNeverAheadOfWhatWasSent) {
  // Versions up to 4 are served, the view is at 99.
  runtime_.log->Add(Chunk({4, 1}, 4, false));
  runtime_.log->Add(absl::UnavailableError("over"));
  Start();
  EXPECT_TRUE(Read().has_opened());
  const SubscribeResponse response = Read();
  ASSERT_TRUE(response.has_heartbeat());
  EXPECT_EQ(response.heartbeat().progress().version(), 4);
  EXPECT_FALSE(response.heartbeat().progress().has_watermark_time());
}

TEST_F(SubscribeTest, HeartbeatsComeWhenNothingElseDoes) {
  request_.mutable_heartbeat_interval()->set_nanos(100'000'000);
  Start();
  EXPECT_TRUE(Read().has_opened());
  EXPECT_TRUE(Read().has_synced());
  for (int i = 0; i < 3; ++i) {
    const SubscribeResponse response = Read();
    ASSERT_TRUE(response.has_heartbeat());
    EXPECT_TRUE(response.heartbeat().has_server_time());
    EXPECT_FALSE(response.cursor().empty());
  }
}

TEST_F(SubscribeTest, TheViewsLatenessDecidesWhatIsFinal) {
  runtime_.log->set_allowed_lateness_us(2'000'000);
  runtime_.log->Add(Chunk({7, 0}, 7, true));
  Start();
  EXPECT_EQ(Read().opened().head_progress().final_time().seconds(), 48);
  EXPECT_EQ(Read().synced().progress().final_time().seconds(), 5);
}

TEST_F(SubscribeTest, StartsWhereItIsTold) {
  for (int i = 0; i < 4; ++i) {
    if (i == 1) request_.set_position(v1::POSITION_NOW);
    if (i == 2) request_.set_position(v1::POSITION_OLDEST);
    if (i == 3) {
      request_.set_cursor(EncodeCursor(runtime_.log->identity(), {8, 3}));
      request_.add_finalities(v1::FINALITY_FINAL);
    }
    Start();
    EXPECT_TRUE(Read().has_opened());
    context_->TryCancel();
    End();
  }
  using Kind = runtime::LogStart::Kind;
  ASSERT_EQ(runtime_.log_starts.size(), 4u);
  EXPECT_EQ(runtime_.log_starts[0].kind, Kind::kNow);
  EXPECT_EQ(runtime_.log_starts[1].kind, Kind::kNow);
  EXPECT_EQ(runtime_.log_starts[2].kind, Kind::kOldest);
  EXPECT_EQ(runtime_.log_starts[3].kind, Kind::kAfter);
  EXPECT_EQ(runtime_.log_starts[3].after, (runtime::LogPosition{8, 3}));
  EXPECT_TRUE(runtime_.log_filters[0].all);
  EXPECT_FALSE(runtime_.log_filters[3].all);
  EXPECT_TRUE(runtime_.log_filters[3].allowed[v1::FINALITY_FINAL]);
  EXPECT_FALSE(runtime_.log_filters[3].allowed[v1::FINALITY_PROVISIONAL]);
}

TEST_F(SubscribeTest, BadCursorsAreRefused) {
  const std::string sound = EncodeCursor(runtime_.log->identity(), {1, 0});
  for (const std::string& cursor :
       {std::string(), std::string("nonsense"), sound.substr(1),
        EncodeCursor({"fake-store", 1, 3}, {1, 0}),
        EncodeCursor({"other-store", 1, 2}, {1, 0})}) {
    request_.set_cursor(cursor);
    Start();
    const grpc::Status status = End();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(ReasonOf(status), "CURSOR_INVALID");
    EXPECT_EQ(MetadataOf(status).count("cause"), 1u);
  }
}

TEST_F(SubscribeTest, InvalidRequestsNameTheField) {
  std::vector<std::pair<SubscribeRequest, std::string>> cases;
  SubscribeRequest request = request_;
  request.set_view("streams/s");
  cases.emplace_back(request, "view");
  request = request_;
  request.set_position(static_cast<v1::Position>(9));
  cases.emplace_back(request, "position");
  request = request_;
  request.add_finalities(v1::FINALITY_UNSPECIFIED);
  cases.emplace_back(request, "finalities[0]");
  request = request_;
  request.add_finalities(v1::FINALITY_FINAL);
  request.add_finalities(static_cast<v1::Finality>(9));
  cases.emplace_back(request, "finalities[1]");
  request = request_;
  request.mutable_heartbeat_interval()->set_nanos(99'999'000);
  cases.emplace_back(request, "heartbeat_interval");
  request = request_;
  request.mutable_heartbeat_interval()->set_nanos(1);
  cases.emplace_back(request, "heartbeat_interval");
  request = request_;
  request.set_max_response_bytes(1023);
  cases.emplace_back(request, "max_response_bytes");
  request = request_;
  request.set_max_response_bytes(-1);
  cases.emplace_back(request, "max_response_bytes");
  for (const auto& [wrong, field] : cases) {
    request_ = wrong;
    Start();
    EXPECT_THAT(FieldsOf(End()), ElementsAre(field));
  }
}

TEST_F(SubscribeTest, AnUnknownViewIsNotFound) {
  runtime_.log = nullptr;
  Start();
  EXPECT_EQ(End().error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(SubscribeTest, AnErrorOfTheLogEndsTheCall) {
  Start();
  EXPECT_TRUE(Read().has_opened());
  EXPECT_TRUE(Read().has_synced());
  runtime_.log->Add(engine::NoSuchResource("streams/s/views/v"));
  EXPECT_EQ(End().error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(SubscribeTest, ADrainEndsIdleSubscribersWithTheirCursor) {
  Start();
  EXPECT_TRUE(Read().has_opened());
  const SubscribeResponse synced = Read();
  ASSERT_TRUE(synced.has_synced());
  ASSERT_TRUE(runtime_.log->WaitUntilIdle());
  server_.server().Drain(std::chrono::seconds(40));
  const grpc::Status status = End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ReasonOf(status), "DRAINING");
  EXPECT_EQ(MetadataOf(status)["cursor"],
            absl::WebSafeBase64Escape(synced.cursor()));
}

TEST_F(SubscribeTest, ADrainCutsOffASubscriberThatDoesNotRead) {
  // Far more than a connection takes in, so the write can't come to its end.
  runtime::LogChunk chunk = Chunk({10, 0}, 10, false);
  chunk.results = {MakeResult(10, 0)};
  chunk.results[0].values = {std::string(40'000'000, 'x')};
  runtime_.log->Add(chunk);
  Start();
  EXPECT_TRUE(Read().has_opened());
  ASSERT_TRUE(runtime_.log->WaitUntilRead());
  server_.server().Drain(std::chrono::milliseconds(300));
  EXPECT_EQ(runtime_.log->reads(), 1);
}

TEST_F(SubscribeTest, AWakeAfterACancelFindsNobody) {
  Start();
  EXPECT_TRUE(Read().has_opened());
  EXPECT_TRUE(Read().has_synced());
  ASSERT_TRUE(runtime_.log->WaitUntilIdle());
  context_->TryCancel();
  EXPECT_EQ(End().error_code(), grpc::StatusCode::CANCELLED);
  runtime_.log->Add(Chunk({7, 0}, 7, true));
}

// -- ListWindows

class ListWindowsTest : public testing::Test {
 protected:
  ListWindowsTest() {
    server_.server().Serve(&runtime_);
    request_.set_parent("streams/s/views/v");
  }
  grpc::Status List(v1::ListWindowsResponse* response) {
    response->Clear();
    return support::Call(*server_.results,
                         &v1::ResultService::Stub::ListWindows, request_,
                         response);
  }
  grpc::Status List() {
    v1::ListWindowsResponse response;
    return List(&response);
  }

  FakeRuntime runtime_;
  TestServer server_;
  v1::ListWindowsRequest request_;
};

TEST_F(ListWindowsTest, PagesFollowTheirToken) {
  std::vector<runtime::ListWindowsQuery> queries;
  runtime_.list_windows = [&](const runtime::ListWindowsQuery& query) {
    queries.push_back(query);
    runtime::WindowPage page;
    page.view.create_time = 77;
    page.results = {MakeResult(3, 0)};
    page.progress = {.watermark = 9'000'000, .version = 3};
    if (queries.size() == 1) {
      page.next = runtime::WindowListPosition{.rows_version = 3,
                                              .in_open = false,
                                              .closing_time = 5,
                                              .start = -4,
                                              .key = std::string("\0k", 2)};
    }
    return page;
  };
  v1::ListWindowsResponse response;
  ASSERT_TRUE(List(&response).ok());
  EXPECT_EQ(response.windows_size(), 1);
  EXPECT_EQ(response.progress().watermark_time().seconds(), 9);
  ASSERT_FALSE(response.next_page_token().empty());
  request_.set_page_token(response.next_page_token());
  request_.set_page_size(20'000);
  ASSERT_TRUE(List(&response).ok());
  EXPECT_TRUE(response.next_page_token().empty());
  ASSERT_EQ(queries.size(), 2u);
  EXPECT_TRUE(queries[0].final_rows);
  EXPECT_FALSE(queries[0].open_windows);
  EXPECT_EQ(queries[0].max_results, 100);
  EXPECT_EQ(queries[1].max_results, 10'000);
  EXPECT_EQ(queries[1].after.rows_version, 3);
  EXPECT_EQ(queries[1].after.closing_time, 5);
  EXPECT_EQ(queries[1].after.start, -4);
  EXPECT_EQ(queries[1].after.key, std::string("\0k", 2));
  // Other arguments, another listing.
  request_.add_finalities(v1::FINALITY_PROVISIONAL);
  EXPECT_EQ(ReasonOf(List()), "PAGE_TOKEN_MISMATCH");
  request_.clear_finalities();
  request_.set_parent("streams/s/views/w");
  EXPECT_EQ(ReasonOf(List()), "PAGE_TOKEN_MISMATCH");
}

TEST_F(ListWindowsTest, ATokenOfAnEarlierViewOfTheNameIsRefused) {
  engine::TimeUs create_time = 1;
  runtime_.list_windows = [&](const runtime::ListWindowsQuery&) {
    runtime::WindowPage page;
    page.view.create_time = create_time++;
    page.next = runtime::WindowListPosition();
    return page;
  };
  v1::ListWindowsResponse response;
  ASSERT_TRUE(List(&response).ok());
  request_.set_page_token(response.next_page_token());
  EXPECT_EQ(ReasonOf(List()), "PAGE_TOKEN_MISMATCH");
}

TEST_F(ListWindowsTest, FinalitiesChooseWhatIsListed) {
  std::vector<runtime::ListWindowsQuery> queries;
  runtime_.list_windows = [&](const runtime::ListWindowsQuery& query) {
    queries.push_back(query);
    return runtime::WindowPage();
  };
  request_.add_finalities(v1::FINALITY_PROVISIONAL);
  ASSERT_TRUE(List().ok());
  EXPECT_FALSE(queries[0].final_rows);
  EXPECT_TRUE(queries[0].open_windows);
  request_.add_finalities(v1::FINALITY_FINAL);
  ASSERT_TRUE(List().ok());
  EXPECT_TRUE(queries[1].final_rows);
  EXPECT_TRUE(queries[1].open_windows);
}

TEST_F(ListWindowsTest, InvalidRequestsNameTheField) {
  request_.set_page_size(-1);
  EXPECT_THAT(FieldsOf(List()), ElementsAre("page_size"));
  request_.clear_page_size();
  request_.set_min_version(-1);
  EXPECT_THAT(FieldsOf(List()), ElementsAre("min_version"));
  request_.clear_min_version();
  request_.add_finalities(v1::FINALITY_RETRACTED);
  EXPECT_THAT(FieldsOf(List()), ElementsAre("finalities"));
  request_.clear_finalities();
  request_.set_parent("streams/s/views/");
  EXPECT_THAT(FieldsOf(List()), ElementsAre("parent"));
}

TEST_F(ListWindowsTest, AWaitEndsWithTheClientsDeadline) {
  request_.set_min_version(10);
  v1::ListWindowsResponse response;
  const grpc::Status status =
      support::Call(*server_.results, &v1::ResultService::Stub::ListWindows,
                    request_, &response, std::chrono::milliseconds(300));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  ASSERT_TRUE(runtime_.WaitForListWindows());
  // The runtime may answer all the same, to nobody.
  runtime_.AnswerList(runtime::WindowPage());
}

TEST_F(ListWindowsTest, AWaitEndsWithADrain) {
  request_.set_min_version(10);
  grpc::Status status;
  std::thread caller([&] { status = List(); });
  ASSERT_TRUE(runtime_.WaitForListWindows());
  EXPECT_FALSE(runtime_.ListIsCancelled());
  server_.server().Drain(std::chrono::seconds(40));
  caller.join();
  EXPECT_EQ(ReasonOf(status), "DRAINING");
  EXPECT_TRUE(runtime_.ListIsCancelled());
}

}  // namespace
}  // namespace casement::rpc
