// All services over a real connection and a real runtime: a request's way to
// the disk and back.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "server/drain.h"
#include "tests/rpc/server_fixture.h"
#include "tests/rpc/status_test_util.h"
#include "tests/support/rpc.h"
#include "tests/support/temp_dir.h"

namespace casement::rpc {
namespace {

using ::google::protobuf::TextFormat;
using ::testing::ElementsAre;

template <typename Message>
Message Parse(const std::string& text) {
  Message message;
  EXPECT_TRUE(TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

class ServicesTest : public testing::Test {
 protected:
  ServicesTest() : server_(&clock_) {
    runtime::RuntimeOptions options;
    options.data_dir = dir_.Sub("data");
    auto started = runtime::Runtime::Start(options, &clock_);
    EXPECT_TRUE(started.ok()) << started.status();
    runtime_ = *std::move(started);
    server_.server().Serve(runtime_.get());
  }
  ~ServicesTest() override {
    server_.server().Drain(std::chrono::seconds(5));
    runtime_->Drain();
  }

  // -- Calls

  template <typename Request>
  grpc::Status CreateStream(const Request& request, v1::Stream* stream) {
    return support::Call(*server_.definitions,
                         &v1::DefinitionService::Stub::CreateStream, request,
                         stream);
  }
  grpc::Status CreateView(const v1::CreateViewRequest& request,
                          v1::View* view) {
    return support::Call(*server_.definitions,
                         &v1::DefinitionService::Stub::CreateView, request,
                         view);
  }
  static v1::CreateStreamRequest StreamRequest(const std::string& id) {
    return Parse<v1::CreateStreamRequest>(
        "stream_id: '" + id +
        R"pb('
             stream {
               fields { name: "user" type: FIELD_TYPE_STRING }
               fields { name: "n" type: FIELD_TYPE_INT64 }
               watermark_policy { bounded_delay { max_delay {} } }
             })pb");
  }
  static v1::CreateViewRequest ViewRequest(const std::string& id) {
    return Parse<v1::CreateViewRequest>(
        "parent: 'streams/s' view_id: '" + id +
        R"pb('
             view {
               spec {
                 window { tumbling { size { seconds: 10 } } }
                 group_by: "user"
                 aggregates { alias: "count" function: FUNCTION_COUNT }
                 aggregates { alias: "sum" function: FUNCTION_SUM field: "n" }
               }
             })pb");
  }
  void MakeStreamAndView() {
    v1::Stream stream;
    grpc::Status status = CreateStream(StreamRequest("s"), &stream);
    ASSERT_TRUE(status.ok()) << support::Describe(status);
    v1::View view;
    status = CreateView(ViewRequest("v"), &view);
    ASSERT_TRUE(status.ok()) << support::Describe(status);
  }
  int64_t OpenProducer() {
    v1::OpenProducerRequest request;
    request.set_stream("streams/s");
    request.set_producer_id("p");
    v1::OpenProducerResponse response;
    const grpc::Status status =
        support::Call(*server_.ingest, &v1::IngestService::Stub::OpenProducer,
                      request, &response);
    EXPECT_TRUE(status.ok()) << support::Describe(status);
    EXPECT_EQ(response.name(), "streams/s/producers/p");
    return response.epoch();
  }
  grpc::Status Append(const std::string& batch, v1::BatchAck* ack,
                      v1::Report report = v1::REPORT_COUNTS) {
    v1::AppendBatchRequest request;
    request.set_producer("streams/s/producers/p");
    request.set_epoch(epoch_);
    *request.mutable_batch() = Parse<v1::Batch>(batch);
    request.set_report(report);
    v1::AppendBatchResponse response;
    const grpc::Status status =
        support::Call(*server_.ingest, &v1::IngestService::Stub::AppendBatch,
                      request, &response);
    *ack = response.ack();
    return status;
  }
  v1::Stats Stats(const std::string& name) {
    v1::GetStatsRequest request;
    request.set_name(name);
    v1::GetStatsResponse response;
    const grpc::Status status = support::Call(
        *server_.admin, &v1::AdminService::Stub::GetStats, request, &response);
    EXPECT_TRUE(status.ok()) << support::Describe(status);
    return response.stats();
  }
  v1::ListWindowsResponse List(int64_t min_version) {
    v1::ListWindowsRequest request;
    request.set_parent("streams/s/views/v");
    request.set_min_version(min_version);
    v1::ListWindowsResponse response;
    const grpc::Status status =
        support::Call(*server_.results, &v1::ResultService::Stub::ListWindows,
                      request, &response);
    EXPECT_TRUE(status.ok()) << support::Describe(status);
    return response;
  }

  support::TempDir dir_;
  runtime::ManualClock clock_;
  // Outlives the server.
  std::unique_ptr<runtime::Runtime> runtime_;
  TestServer server_;
  int64_t epoch_ = 1;
};

constexpr char kTwoEvents[] = R"pb(
  sequence: 1
  rows {
    events {
      event_time { seconds: 1 }
      fields {
        key: "user"
        value { string_value: "ann" }
      }
      fields {
        key: "n"
        value { int64_value: 5 }
      }
    }
    events {
      event_time { seconds: 2 }
      fields {
        key: "user"
        value { string_value: "ann" }
      }
      fields {
        key: "n"
        value { int64_value: 7 }
      }
    }
  })pb";

TEST_F(ServicesTest, AnEqualDefinitionIsTheSameResource) {
  v1::Stream first;
  ASSERT_TRUE(CreateStream(StreamRequest("s"), &first).ok());
  EXPECT_EQ(first.name(), "streams/s");
  EXPECT_TRUE(first.has_create_time());
  v1::CreateStreamRequest again = StreamRequest("s");
  // A default that is spelled out changes nothing.
  again.mutable_stream()->mutable_watermark_policy()->set_combine(
      v1::WatermarkPolicy::COMBINE_LEAST_OVER_PRODUCERS);
  v1::Stream second;
  ASSERT_TRUE(CreateStream(again, &second).ok());
  EXPECT_EQ(second.SerializeAsString(), first.SerializeAsString());
  again.mutable_stream()->set_display_name("Other");
  const grpc::Status status = CreateStream(again, &second);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(ReasonOf(status), "RESOURCE_EXISTS");
}

TEST_F(ServicesTest, ValidateOnlyMakesNothing) {
  v1::CreateStreamRequest request = StreamRequest("s");
  request.set_validate_only(true);
  v1::Stream stream;
  ASSERT_TRUE(CreateStream(request, &stream).ok());
  v1::GetStreamRequest get;
  get.set_name("streams/s");
  const grpc::Status status =
      support::Call(*server_.definitions,
                    &v1::DefinitionService::Stub::GetStream, get, &stream);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(ReasonOf(status), "NO_SUCH_RESOURCE");
}

TEST_F(ServicesTest, ListsComeInPages) {
  v1::Stream made;
  for (const char* id : {"c", "a", "d", "b", "e"}) {
    ASSERT_TRUE(CreateStream(StreamRequest(id), &made).ok());
  }
  v1::ListStreamsRequest request;
  request.set_page_size(2);
  std::vector<std::string> names;
  int pages = 0;
  do {
    v1::ListStreamsResponse response;
    ASSERT_TRUE(support::Call(*server_.definitions,
                              &v1::DefinitionService::Stub::ListStreams,
                              request, &response)
                    .ok());
    EXPECT_LE(response.streams_size(), 2);
    for (const v1::Stream& stream : response.streams()) {
      names.push_back(stream.name());
    }
    request.set_page_token(response.next_page_token());
    ++pages;
  } while (!request.page_token().empty());
  EXPECT_EQ(pages, 3);
  EXPECT_THAT(names, ElementsAre("streams/a", "streams/b", "streams/c",
                                 "streams/d", "streams/e"));
  request.set_page_size(-1);
  v1::ListStreamsResponse response;
  EXPECT_THAT(FieldsOf(support::Call(*server_.definitions,
                                     &v1::DefinitionService::Stub::ListStreams,
                                     request, &response)),
              ElementsAre("page_size"));
}

TEST_F(ServicesTest, AViewNeedsItsStream) {
  v1::View view;
  const grpc::Status status = CreateView(ViewRequest("v"), &view);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(ServicesTest, AStreamWithViewsIsDeletedByForceOnly) {
  MakeStreamAndView();
  v1::DeleteStreamRequest request;
  request.set_name("streams/s");
  google::protobuf::Empty empty;
  const grpc::Status status = support::Call(
      *server_.definitions, &v1::DefinitionService::Stub::DeleteStream, request,
      &empty);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ReasonOf(status), "HAS_VIEWS");
  request.set_force(true);
  EXPECT_TRUE(support::Call(*server_.definitions,
                            &v1::DefinitionService::Stub::DeleteStream, request,
                            &empty)
                  .ok());
}

TEST_F(ServicesTest, EventsBecomeResults) {
  MakeStreamAndView();
  epoch_ = OpenProducer();
  v1::BatchAck ack;
  grpc::Status status = Append(kTwoEvents, &ack);
  ASSERT_TRUE(status.ok()) << support::Describe(status);
  EXPECT_EQ(ack.accepted_events(), 2);
  EXPECT_EQ(ack.progress().watermark_time().seconds(), 2);
  status = Append("sequence: 2 watermark_time { seconds: 10 }", &ack);
  ASSERT_TRUE(status.ok()) << support::Describe(status);

  const v1::ListWindowsResponse windows = List(ack.version());
  ASSERT_EQ(windows.windows_size(), 1);
  const v1::WindowResult& result = windows.windows(0);
  EXPECT_EQ(result.finality(), v1::FINALITY_FINAL);
  EXPECT_EQ(result.window().start_time().seconds(), 0);
  EXPECT_EQ(result.window().end_time().seconds(), 10);
  EXPECT_EQ(result.key().parts(0).string_value(), "ann");
  ASSERT_EQ(result.values_size(), 2);
  EXPECT_EQ(result.values(0).int64_value(), 2);
  EXPECT_EQ(result.values(1).int64_value(), 12);
  EXPECT_EQ(result.event_count(), 2);
  EXPECT_EQ(result.first_event_time().seconds(), 1);
  EXPECT_EQ(result.last_event_time().seconds(), 2);
  EXPECT_EQ(result.version(), ack.version());
  EXPECT_GE(windows.progress().version(), ack.version());

  const v1::Stats stream = Stats("streams/s");
  EXPECT_EQ(stream.received_events(), 2);
  EXPECT_EQ(stream.accepted_events(), 2);
  const v1::Stats view = Stats("streams/s/views/v");
  EXPECT_EQ(view.counted_events(), 2);
  EXPECT_EQ(view.final_results(), 1);
}

TEST_F(ServicesTest, ARepeatInTheOtherFormCountsOnce) {
  MakeStreamAndView();
  epoch_ = OpenProducer();
  v1::BatchAck first;
  ASSERT_TRUE(Append(kTwoEvents, &first).ok());
  v1::BatchAck second;
  const grpc::Status status = Append(R"pb(
                                       sequence: 1
                                       columns {
                                         row_count: 2
                                         base_time_us: 1000000
                                         event_time_deltas_us: [ 0, 1000000 ]
                                         symbols: [ "", "ann" ]
                                         columns {
                                           field: "n"
                                           int64s { values: [ 5, 7 ] }
                                         }
                                         columns {
                                           field: "user"
                                           symbols { indices: [ 1, 1 ] }
                                         }
                                       })pb",
                                     &second);
  ASSERT_TRUE(status.ok()) << support::Describe(status);
  EXPECT_TRUE(second.duplicate());
  EXPECT_EQ(second.version(), first.version());
  EXPECT_EQ(Stats("streams/s").accepted_events(), 2);
  EXPECT_EQ(Stats("streams/s").duplicate_batches(), 1);
  // Other content under the same number.
  EXPECT_EQ(ReasonOf(Append("sequence: 1 watermark_time {}", &second)),
            "SEQUENCE_REUSED");
  const grpc::Status gap = Append("sequence: 5 watermark_time {}", &second);
  EXPECT_EQ(ReasonOf(gap), "SEQUENCE_GAP");
  EXPECT_EQ(MetadataOf(gap)["expected_sequence"], "2");
}

TEST_F(ServicesTest, RejectsAndFatesAreTold) {
  MakeStreamAndView();
  epoch_ = OpenProducer();
  v1::BatchAck ack;
  const grpc::Status status = Append(R"pb(
                                       sequence: 1
                                       rows {
                                         events { event_time { seconds: 30 } }
                                         events {}
                                         events { event_time { seconds: 1 } }
                                         events {
                                           event_time { seconds: 31 }
                                           fields {
                                             key: "n"
                                             value { double_value: 1 }
                                           }
                                         }
                                         events {}
                                       })pb",
                                     &ack, v1::REPORT_FATES);
  ASSERT_TRUE(status.ok()) << support::Describe(status);
  EXPECT_EQ(ack.accepted_events(), 2);
  EXPECT_EQ(ack.late_events(), 1);
  EXPECT_EQ(ack.rejects().rejected_events(), 3);
  ASSERT_EQ(ack.rejects().counts_size(), 2);
  EXPECT_EQ(ack.rejects().counts(0).reason(), v1::REJECT_REASON_MISSING_TIME);
  EXPECT_EQ(ack.rejects().counts(0).count(), 2);
  EXPECT_EQ(ack.rejects().examples_size(), 3);
  EXPECT_EQ(ack.rejects().examples(1).index(), 3);
  EXPECT_EQ(ack.rejects().examples(1).field(), "n");
  ASSERT_EQ(ack.fates_size(), 4) << ack.DebugString();
  EXPECT_EQ(ack.fates(0).rejected(), v1::REJECT_REASON_MISSING_TIME);
  EXPECT_EQ(ack.fates(1).index(), 2);
  ASSERT_EQ(ack.fates(1).in_views().views_size(), 1);
  const v1::EventFate::InView& late = ack.fates(1).in_views().views(0);
  EXPECT_EQ(late.state(), v1::EventFate::InView::STATE_LATE);
  EXPECT_EQ(late.late_window_count(), 1);
  EXPECT_EQ(late.late_windows(0).end_time().seconds(), 10);
  EXPECT_EQ(ack.fates(2).index(), 3);
  EXPECT_EQ(ack.fates(3).index(), 4);
}

TEST_F(ServicesTest, ARefusedBatchNamesItsBadEvents) {
  v1::CreateStreamRequest request = StreamRequest("s");
  request.mutable_stream()->set_invalid_event_policy(
      v1::INVALID_EVENT_POLICY_REJECT_BATCH);
  v1::Stream stream;
  ASSERT_TRUE(CreateStream(request, &stream).ok());
  epoch_ = OpenProducer();
  v1::BatchAck ack;
  const grpc::Status status = Append(R"pb(
                                       sequence: 1
                                       rows {
                                         events { event_time {} }
                                         events {
                                           event_time {}
                                           fields {
                                             key: "n"
                                             value { bool_value: true }
                                           }
                                         }
                                       })pb",
                                     &ack);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  const auto violations = support::ViolationsOf(support::DetailsOf(status));
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].field(), "events[1].n");
  EXPECT_THAT(violations[0].reason(), testing::HasSubstr("WRONG_TYPE"));
}

TEST_F(ServicesTest, InvalidIngestNamesTheField) {
  MakeStreamAndView();
  epoch_ = OpenProducer();
  v1::AppendBatchRequest sound;
  sound.set_producer("streams/s/producers/p");
  sound.set_epoch(epoch_);
  sound.mutable_batch()->set_sequence(1);
  sound.mutable_batch()->mutable_watermark_time();
  std::vector<std::pair<v1::AppendBatchRequest, std::string>> cases;
  v1::AppendBatchRequest request = sound;
  request.set_producer("streams/s/producers/NO");
  cases.emplace_back(request, "producer");
  request = sound;
  request.set_epoch(0);
  cases.emplace_back(request, "epoch");
  request = sound;
  request.clear_batch();
  cases.emplace_back(request, "batch");
  request = sound;
  request.set_durability(static_cast<v1::Durability>(7));
  cases.emplace_back(request, "durability");
  request = sound;
  request.set_report(static_cast<v1::Report>(7));
  cases.emplace_back(request, "report");
  request = sound;
  request.mutable_batch()->set_sequence(0);
  cases.emplace_back(request, "batch.sequence");
  for (const auto& [wrong, field] : cases) {
    v1::AppendBatchResponse response;
    EXPECT_THAT(FieldsOf(support::Call(*server_.ingest,
                                       &v1::IngestService::Stub::AppendBatch,
                                       wrong, &response)),
                ElementsAre(field));
  }
  v1::Producer producer;
  v1::GetProducerRequest get;
  get.set_name("streams/s/producers/p");
  ASSERT_TRUE(support::Call(*server_.ingest,
                            &v1::IngestService::Stub::GetProducer, get,
                            &producer)
                  .ok());
  EXPECT_EQ(producer.last_sequence(), 0);
  EXPECT_FALSE(producer.has_watermark_time());
}

TEST_F(ServicesTest, ASubscriberFollowsAndResumes) {
  MakeStreamAndView();
  epoch_ = OpenProducer();
  v1::BatchAck ack;
  ASSERT_TRUE(Append(kTwoEvents, &ack).ok());
  ASSERT_TRUE(Append("sequence: 2 watermark_time { seconds: 10 }", &ack).ok());
  List(ack.version());  // what is acknowledged may be readable a little later

  v1::SubscribeRequest request;
  request.set_view("streams/s/views/v");
  request.set_position(v1::POSITION_OLDEST);
  std::string cursor;
  {
    const auto context = NewContext();
    auto stream = server_.results->Subscribe(context.get(), request);
    v1::SubscribeResponse response;
    ASSERT_TRUE(stream->Read(&response));
    EXPECT_TRUE(response.has_opened());
    ASSERT_TRUE(stream->Read(&response));
    ASSERT_EQ(response.results().results_size(), 1) << response.DebugString();
    EXPECT_EQ(response.results().results(0).finality(), v1::FINALITY_FINAL);
    cursor = response.cursor();
    ASSERT_TRUE(stream->Read(&response));
    EXPECT_TRUE(response.has_synced());
    context->TryCancel();
  }
  request.set_cursor(cursor);
  const auto context = NewContext();
  auto stream = server_.results->Subscribe(context.get(), request);
  v1::SubscribeResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_TRUE(response.has_opened());
  EXPECT_EQ(response.cursor(), cursor);
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_TRUE(response.has_synced()) << response.DebugString();
  ASSERT_TRUE(Append(R"pb(
                       sequence: 3
                       rows { events { event_time { seconds: 11 } } }
                       watermark_time { seconds: 40 })pb",
                     &ack)
                  .ok());
  ASSERT_TRUE(stream->Read(&response));
  ASSERT_EQ(response.results().results_size(), 1) << response.DebugString();
  EXPECT_EQ(response.results().results(0).window().start_time().seconds(), 10);
  EXPECT_EQ(response.served_version(), ack.version());
  // A heartbeat follows what matched nothing.
  ASSERT_TRUE(Append("sequence: 4 watermark_time { seconds: 41 }", &ack).ok());
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.heartbeat().progress().watermark_time().seconds(), 41)
      << response.DebugString();
}

TEST_F(ServicesTest, ACursorOfAnEarlierViewOfTheNameIsRefused) {
  MakeStreamAndView();
  v1::SubscribeRequest request;
  request.set_view("streams/s/views/v");
  v1::SubscribeResponse response;
  {
    const auto context = NewContext();
    auto stream = server_.results->Subscribe(context.get(), request);
    ASSERT_TRUE(stream->Read(&response));
    v1::DeleteViewRequest remove;
    remove.set_name("streams/s/views/v");
    google::protobuf::Empty empty;
    ASSERT_TRUE(support::Call(*server_.definitions,
                              &v1::DefinitionService::Stub::DeleteView, remove,
                              &empty)
                    .ok());
    v1::SubscribeResponse more;
    while (stream->Read(&more)) {
    }
    EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::NOT_FOUND);
  }
  v1::View view;
  ASSERT_TRUE(CreateView(ViewRequest("v"), &view).ok());
  request.set_cursor(response.cursor());
  const auto context = NewContext();
  auto stream = server_.results->Subscribe(context.get(), request);
  EXPECT_FALSE(stream->Read(&response));
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(ReasonOf(status), "CURSOR_INVALID") << support::Describe(status);
}

TEST_F(ServicesTest, AnAppendStreamAcknowledgesRepeats) {
  MakeStreamAndView();
  epoch_ = OpenProducer();
  v1::BatchAck ack;
  ASSERT_TRUE(Append(kTwoEvents, &ack).ok());
  const auto context = NewContext();
  auto stream = server_.ingest->AppendStream(context.get());
  v1::AppendStreamRequest request;
  request.mutable_open()->set_producer("streams/s/producers/p");
  request.mutable_open()->set_epoch(epoch_);
  ASSERT_TRUE(stream->Write(request));
  v1::AppendStreamResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.opened().last_sequence(), 1);
  *request.mutable_batch() = Parse<v1::Batch>(kTwoEvents);
  ASSERT_TRUE(stream->Write(request));
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.committed().through_sequence(), 1);
  ASSERT_EQ(response.committed().notable_size(), 1);
  EXPECT_TRUE(response.committed().notable(0).duplicate());
  request.mutable_close()->set_last_sequence(1);
  ASSERT_TRUE(stream->Write(request));
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(ServicesTest, ADrainEndsEverythingInTime) {
  MakeStreamAndView();
  epoch_ = OpenProducer();
  const auto subscriber = NewContext();
  v1::SubscribeRequest request;
  request.set_view("streams/s/views/v");
  auto results = server_.results->Subscribe(subscriber.get(), request);
  v1::SubscribeResponse result;
  ASSERT_TRUE(results->Read(&result));
  const auto producer = NewContext();
  auto stream = server_.ingest->AppendStream(producer.get());
  v1::AppendStreamRequest append;
  append.mutable_open()->set_producer("streams/s/producers/p");
  append.mutable_open()->set_epoch(epoch_);
  ASSERT_TRUE(stream->Write(append));
  v1::AppendStreamResponse response;
  ASSERT_TRUE(stream->Read(&response));

  DrainAll(&server_.server(), runtime_.get(), std::chrono::milliseconds(0));

  while (results->Read(&result)) {
  }
  EXPECT_EQ(ReasonOf(results->Finish()), "DRAINING");
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(ReasonOf(stream->Finish()), "DRAINING");
}

}  // namespace
}  // namespace casement::rpc
