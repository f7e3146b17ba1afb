// Casement from C++: sales of two shops, summed by the minute.
//
// Makes a stream and a view, sends six sales, and follows the results; stops
// following in the middle and resumes from the cursor it kept. Start a server
// with an empty data directory and run `casement_quickstart 127.0.0.1:7077`.
// Run it again: it finds that the server has all the sales, and sends none.

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "casement/v1/definition.grpc.pb.h"
#include "casement/v1/result.grpc.pb.h"
#include "client/channel.h"
#include "client/event.h"
#include "client/producer.h"
#include "client/status.h"
#include "client/subscriber.h"
#include "google/protobuf/text_format.h"

namespace {

using casement::client::Event;
using casement::client::FromGrpcStatus;
using casement::client::Producer;
using casement::client::ProducerOptions;
using casement::client::Subscriber;
using casement::client::SubscriberOptions;
namespace v1 = casement::v1;

constexpr char kStream[] = "streams/sales";
constexpr char kView[] = "streams/sales/views/per-minute";

// The sale of 09:00:50 comes out of order but in time: the stream waits 30 s
// for such. The last one comes when the watermark has passed its minute: it is
// late.
struct Sale {
  int minute;
  int second;
  const char* shop;
  int64_t cents;
};
constexpr Sale kSales[] = {
    {0, 5, "north", 350},  {0, 20, "south", 420}, {1, 10, "north", 280},
    {0, 50, "north", 150}, {2, 40, "south", 500}, {0, 59, "south", 999},
};

constexpr char kStreamDefinition[] = R"pb(
  stream_id: "sales"
  stream {
    fields { name: "shop" type: FIELD_TYPE_STRING required: true }
    fields { name: "cents" type: FIELD_TYPE_INT64 }
    watermark_policy { bounded_delay { max_delay { seconds: 30 } } }
  }
)pb";

constexpr char kViewDefinition[] = R"pb(
  parent: "streams/sales"
  view_id: "per-minute"
  view {
    spec {
      window { tumbling { size { seconds: 60 } } }
      group_by: "shop"
      aggregates { alias: "sales" function: FUNCTION_COUNT }
      aggregates { alias: "cents" function: FUNCTION_SUM field: "cents" }
      # A provisional result at the end of each batch that changed a window,
      # besides the final one.
      trigger { early { every_batch: true } }
    }
  }
)pb";

template <typename Message>
Message FromText(const char* text) {
  Message message;
  if (!google::protobuf::TextFormat::ParseFromString(text, &message)) abort();
  return message;
}

// Makes the stream and the view; does nothing if they are there.
absl::Status MakeDefinitions(v1::DefinitionService::Stub* definitions) {
  v1::Stream stream;
  grpc::ClientContext stream_context;
  const absl::Status status = FromGrpcStatus(definitions->CreateStream(
      &stream_context, FromText<v1::CreateStreamRequest>(kStreamDefinition),
      &stream));
  if (!status.ok()) return status;
  v1::View view;
  grpc::ClientContext view_context;
  return FromGrpcStatus(definitions->CreateView(
      &view_context, FromText<v1::CreateViewRequest>(kViewDefinition), &view));
}

// Sends the sales in [begin, end) that the server has not got, and waits until
// they are on its disk. Their numbers ride along as the position, so whoever
// opens this producer next knows where to go on.
absl::Status Send(Producer* producer, int begin, int end) {
  int resumed = 0;
  if (!producer->resumed_position().empty() &&
      !absl::SimpleAtoi(producer->resumed_position(), &resumed)) {
    return absl::DataLossError("the position is not a number");
  }
  if (resumed >= end) {
    std::cout << "nothing to send: the server has these sales\n";
    return absl::OkStatus();
  }
  for (int i = std::max(begin, resumed); i < end; ++i) {
    const Sale& sale = kSales[i];
    const absl::Time time = absl::FromCivil(
        absl::CivilSecond(2026, 1, 5, 9, sale.minute, sale.second),
        absl::UTCTimeZone());
    const absl::Status status = producer->Add(
        Event(time).Set("shop", sale.shop).Set("cents", sale.cents),
        absl::StrCat(i + 1));
    if (!status.ok()) return status;
  }
  const absl::Status status = producer->Flush();
  if (!status.ok()) return status;
  std::cout << "sent: " << producer->totals().accepted_events
            << " accepted so far, " << producer->totals().late_events
            << " of them late\n";
  return absl::OkStatus();
}

std::string MinuteOf(const google::protobuf::Timestamp& time) {
  return absl::FormatTime("%H:%M", absl::FromUnixSeconds(time.seconds()),
                          absl::UTCTimeZone());
}

void Show(const v1::WindowResult& result) {
  std::cout << "  " << MinuteOf(result.window().start_time()) << "-"
            << MinuteOf(result.window().end_time()) << " "
            << result.key().parts(0).string_value()
            << " sales=" << result.values(0).int64_value()
            << " cents=" << result.values(1).int64_value()
            << (result.finality() == v1::FINALITY_FINAL ? " final"
                                                        : " provisional")
            << "\n";
}

// Shows what comes after `*cursor` up to `version`, and moves the cursor.
absl::Status Follow(std::shared_ptr<grpc::Channel> channel, int64_t version,
                    std::string* cursor) {
  SubscriberOptions options;
  options.view = kView;
  options.cursor = *cursor;
  Subscriber subscriber(std::move(channel), options);
  const absl::Status status =
      subscriber.Run([version](const v1::SubscribeResponse& response) {
        for (const auto& result : response.results().results()) Show(result);
        return response.served_version() < version;
      });
  // Keep it with what was made of the results, in one transaction if there is
  // a database: then each result takes effect exactly once.
  *cursor = subscriber.cursor();
  return status;
}

// Shows every final window, as of `version` or later.
absl::Status ListWindows(std::shared_ptr<grpc::Channel> channel,
                         int64_t version) {
  const auto results = v1::ResultService::NewStub(std::move(channel));
  v1::ListWindowsRequest request;
  request.set_parent(kView);
  request.set_min_version(version);
  do {
    v1::ListWindowsResponse page;
    grpc::ClientContext context;
    const absl::Status status =
        FromGrpcStatus(results->ListWindows(&context, request, &page));
    if (!status.ok()) return status;
    for (const auto& result : page.windows()) Show(result);
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return absl::OkStatus();
}

absl::Status Run(const std::string& address) {
  const auto channel = casement::client::MakeChannel(address);
  const auto definitions = v1::DefinitionService::NewStub(channel);
  absl::Status status = MakeDefinitions(definitions.get());
  if (!status.ok()) return status;

  ProducerOptions options;
  options.stream = kStream;
  options.producer_id = "till";
  // A batch goes out when it is full, or by Flush, and not after some time.
  options.linger = absl::InfiniteDuration();
  auto producer = Producer::Open(channel, options);
  if (!producer.ok()) return producer.status();

  std::string cursor;
  status = Send(producer->get(), 0, 2);
  if (!status.ok()) return status;
  std::cout << "results so far:\n";
  status = Follow(channel, (*producer)->totals().version, &cursor);
  if (!status.ok()) return status;

  status = Send(producer->get(), 2, std::size(kSales));
  if (!status.ok()) return status;
  std::cout << "results since then, resumed from the cursor:\n";
  status = Follow(channel, (*producer)->totals().version, &cursor);
  if (!status.ok()) return status;
  status = (*producer)->Close();
  if (!status.ok()) return status;

  // The last window is open until the watermark passes its end. No more sales
  // will come, ever: end the stream.
  v1::EndStreamRequest end;
  end.set_name(kStream);
  v1::Stream ended;
  grpc::ClientContext context;
  status = FromGrpcStatus(definitions->EndStream(&context, end, &ended));
  if (!status.ok()) return status;
  std::cout << "final windows:\n";
  return ListWindows(channel, ended.progress().version());
}

}  // namespace

int main(int argc, char** argv) {
  const absl::Status status =
      Run(argc > 1 ? argv[1] : casement::client::kDefaultServer);
  if (status.ok()) return 0;
  std::cerr << status << "\n";
  return 1;
}
