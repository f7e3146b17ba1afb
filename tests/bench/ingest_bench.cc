// End-to-end ingest: a casementd of its own on a fresh directory, one stream
// with a view of tumbling minutes over 100,000 keys, and AppendStream calls
// that send batches built beforehand, so that the client's building is not what
// is measured. Prints events per second from the first batch sent to the last
// one acknowledged.
//
//   casement_ingest_bench --form=columns --durability=synced --streams=1
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/str_cat.h"
#include "casement/v1/definition.grpc.pb.h"
#include "casement/v1/ingest.grpc.pb.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_dir.h"

ABSL_FLAG(std::string, form, "columns", "columns or rows");
ABSL_FLAG(std::string, durability, "synced", "synced or buffered");
ABSL_FLAG(int, streams, 1, "producers, each with an AppendStream of its own");
ABSL_FLAG(int, batch_events, 16384, "events in a batch");
ABSL_FLAG(int, batches, 400, "batches for each producer");
ABSL_FLAG(int, in_flight, 8, "unacknowledged batches for each producer");
ABSL_FLAG(int, keys, 100000, "distinct keys");
ABSL_FLAG(std::string, casementd, "",
          "server binary; default: beside this one");

namespace casement {
namespace {

constexpr int64_t kSecondUs = 1'000'000;
constexpr int kDistinctBatches = 32;

struct Draw {
  std::mt19937_64 random{1};
  std::uniform_real_distribution<double> uniform{0, 1};
  std::string Key(int keys) {
    const int rank =
        static_cast<int>(std::pow(keys, uniform(random))) - 1;  // like zipf
    return absl::StrCat("key-", 10'000'000 + rank);
  }
  double Value() { return std::round(uniform(random) * 1e4) / 100; }
  int64_t Disorder() {
    return static_cast<int64_t>(uniform(random) * kSecondUs);
  }
};

// Batch `n` of a producer; its times go on from batch to batch.
v1::Batch MakeColumns(int64_t n, int events, int keys, Draw* draw) {
  v1::Batch batch;
  v1::ColumnBatch* columns = batch.mutable_columns();
  columns->set_row_count(events);
  columns->add_symbols("");
  v1::Column* key = columns->add_columns();
  key->set_field("key");
  v1::Column* value = columns->add_columns();
  value->set_field("value");
  std::map<std::string, uint32_t> index;
  int64_t before = 0;
  for (int i = 0; i < events; ++i) {
    const int64_t time = (n * events + i) * 60 - draw->Disorder();
    columns->add_event_time_deltas_us(time - before);
    before = time;
    const std::string text = draw->Key(keys);
    const auto [found, added] = index.emplace(text, columns->symbols_size());
    if (added) columns->add_symbols(text);
    key->mutable_symbols()->add_indices(found->second);
    value->mutable_doubles()->add_values(draw->Value());
  }
  return batch;
}

v1::Batch MakeRows(int64_t n, int events, int keys, Draw* draw) {
  v1::Batch batch;
  for (int i = 0; i < events; ++i) {
    v1::Event* event = batch.mutable_rows()->add_events();
    const int64_t time = (n * events + i) * 60 - draw->Disorder() + kSecondUs;
    event->mutable_event_time()->set_seconds(time / kSecondUs);
    event->mutable_event_time()->set_nanos(
        static_cast<int32_t>(time % kSecondUs) * 1000);
    (*event->mutable_fields())["key"].set_string_value(draw->Key(keys));
    (*event->mutable_fields())["value"].set_double_value(draw->Value());
  }
  return batch;
}

class Load {
 public:
  Load(std::shared_ptr<grpc::Channel> channel, std::string producer)
      : stub_(v1::IngestService::NewStub(channel)),
        producer_(std::move(producer)) {
    const bool columns = absl::GetFlag(FLAGS_form) == "columns";
    const int events = absl::GetFlag(FLAGS_batch_events);
    Draw draw;
    for (int64_t n = 0; n < kDistinctBatches; ++n) {
      const int keys = absl::GetFlag(FLAGS_keys);
      batches_.push_back(columns ? MakeColumns(n, events, keys, &draw)
                                 : MakeRows(n, events, keys, &draw));
    }
  }

  bool Open() {
    grpc::ClientContext context;
    v1::OpenProducerRequest request;
    request.set_stream("streams/bench");
    request.set_producer_id(producer_);
    v1::OpenProducerResponse response;
    const grpc::Status status =
        stub_->OpenProducer(&context, request, &response);
    name_ = response.name();
    epoch_ = response.epoch();
    if (!status.ok())
      std::fprintf(stderr, "%s\n", status.error_message().c_str());
    return status.ok();
  }

  bool Run() {
    grpc::ClientContext context;
    auto stream = stub_->AppendStream(&context);
    v1::AppendStreamRequest request;
    request.mutable_open()->set_producer(name_);
    request.mutable_open()->set_epoch(epoch_);
    request.mutable_open()->set_durability(
        absl::GetFlag(FLAGS_durability) == "synced" ? v1::DURABILITY_SYNCED
                                                    : v1::DURABILITY_BUFFERED);
    stream->Write(request);
    v1::AppendStreamResponse response;
    if (!stream->Read(&response)) return Fail(stream->Finish());
    const int64_t total = absl::GetFlag(FLAGS_batches);
    const int64_t in_flight = absl::GetFlag(FLAGS_in_flight);
    int64_t acked = 0;
    for (int64_t sequence = 1; sequence <= total; ++sequence) {
      while (sequence - acked > in_flight) {
        if (!ReadAck(stream.get(), &acked)) return Fail(stream->Finish());
      }
      v1::Batch* batch = &batches_[sequence % kDistinctBatches];
      batch->set_sequence(sequence);
      request.set_allocated_batch(batch);  // lent
      const bool written = stream->Write(request);
      (void)request.release_batch();
      if (!written) return Fail(stream->Finish());
    }
    while (acked < total) {
      if (!ReadAck(stream.get(), &acked)) return Fail(stream->Finish());
    }
    request.mutable_close()->set_last_sequence(total);
    stream->Write(request);
    stream->WritesDone();
    while (stream->Read(&response)) {
    }
    const grpc::Status status = stream->Finish();
    return status.ok() || Fail(status);
  }

  int64_t wire_bytes() const {
    int64_t bytes = 0;
    for (const v1::Batch& batch : batches_) bytes += batch.ByteSizeLong();
    return bytes / kDistinctBatches;
  }

 private:
  using Call = grpc::ClientReaderWriter<v1::AppendStreamRequest,
                                        v1::AppendStreamResponse>;
  bool ReadAck(Call* stream, int64_t* acked) {
    v1::AppendStreamResponse response;
    if (!stream->Read(&response)) return false;
    if (response.has_failed()) {
      std::fprintf(stderr, "failed: %s\n",
                   response.failed().status().message().c_str());
      return false;
    }
    if (response.has_committed()) {
      *acked = response.committed().through_sequence();
    }
    return true;
  }
  static bool Fail(const grpc::Status& status) {
    std::fprintf(stderr, "call ended: %s\n", status.error_message().c_str());
    return false;
  }

  std::unique_ptr<v1::IngestService::Stub> stub_;
  std::string producer_;
  std::string name_;
  int64_t epoch_ = 0;
  std::vector<v1::Batch> batches_;
};

bool Define(const std::shared_ptr<grpc::Channel>& channel) {
  auto stub = v1::DefinitionService::NewStub(channel);
  v1::CreateStreamRequest stream;
  stream.set_stream_id("bench");
  v1::FieldSpec* key = stream.mutable_stream()->add_fields();
  key->set_name("key");
  key->set_type(v1::FIELD_TYPE_STRING);
  v1::FieldSpec* value = stream.mutable_stream()->add_fields();
  value->set_name("value");
  value->set_type(v1::FIELD_TYPE_DOUBLE);
  stream.mutable_stream()
      ->mutable_watermark_policy()
      ->mutable_bounded_delay()
      ->mutable_max_delay()
      ->set_seconds(2);
  v1::CreateViewRequest view;
  view.set_parent("streams/bench");
  view.set_view_id("minutes");
  v1::ViewSpec* spec = view.mutable_view()->mutable_spec();
  spec->mutable_window()->mutable_tumbling()->mutable_size()->set_seconds(60);
  spec->add_group_by("key");
  const std::pair<const char*, v1::AggregateSpec::Function> aggregates[] = {
      {"n", v1::AggregateSpec::FUNCTION_COUNT},
      {"total", v1::AggregateSpec::FUNCTION_SUM},
      {"least", v1::AggregateSpec::FUNCTION_MIN},
      {"greatest", v1::AggregateSpec::FUNCTION_MAX}};
  for (const auto& [alias, function] : aggregates) {
    v1::AggregateSpec* aggregate = spec->add_aggregates();
    aggregate->set_alias(alias);
    aggregate->set_function(function);
    if (function != v1::AggregateSpec::FUNCTION_COUNT) {
      aggregate->set_field("value");
    }
  }
  grpc::ClientContext one;
  grpc::ClientContext two;
  v1::Stream made_stream;
  v1::View made_view;
  grpc::Status status = stub->CreateStream(&one, stream, &made_stream);
  if (status.ok()) status = stub->CreateView(&two, view, &made_view);
  if (!status.ok())
    std::fprintf(stderr, "%s\n", status.error_message().c_str());
  return status.ok();
}

int Main() {
  auto binary = support::FindServerBinary(absl::GetFlag(FLAGS_casementd));
  if (!binary.ok()) {
    std::fprintf(stderr, "%s\n", binary.status().ToString().c_str());
    return 1;
  }
  support::TempDir dir;
  support::ServerProcess::Options options;
  options.binary = *binary;
  options.data_dir = dir.path() + "/data";
  options.log_file = dir.path() + "/log";
  support::ServerProcess server(options);
  if (const absl::Status status = server.Start(); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  if (!Define(server.NewChannel())) return 1;
  std::vector<std::unique_ptr<Load>> loads;
  for (int i = 0; i < absl::GetFlag(FLAGS_streams); ++i) {
    loads.push_back(
        std::make_unique<Load>(server.NewChannel(), absl::StrCat("p", i)));
    if (!loads.back()->Open()) return 1;
  }
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  std::vector<char> done(loads.size(), 0);
  for (size_t i = 0; i < loads.size(); ++i) {
    threads.emplace_back([&, i] { done[i] = loads[i]->Run(); });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  for (const char ok : done) {
    if (!ok) return 1;
  }
  const double events = static_cast<double>(absl::GetFlag(FLAGS_batches)) *
                        absl::GetFlag(FLAGS_batch_events) *
                        static_cast<double>(loads.size());
  std::printf(
      "%s %s, %d stream(s), batches of %d (%.1f B/event): %.0f events/s\n",
      absl::GetFlag(FLAGS_form).c_str(),
      absl::GetFlag(FLAGS_durability).c_str(), static_cast<int>(loads.size()),
      absl::GetFlag(FLAGS_batch_events),
      static_cast<double>(loads[0]->wire_bytes()) /
          absl::GetFlag(FLAGS_batch_events),
      events / seconds);
  return 0;
}

}  // namespace
}  // namespace casement

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  return casement::Main();
}
