#include "tests/crash/run.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <random>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "casement/v1/admin.grpc.pb.h"
#include "casement/v1/definition.grpc.pb.h"
#include "casement/v1/ingest.grpc.pb.h"
#include "tests/crash/producers.h"
#include "tests/crash/subscriber.h"
#include "tests/crash/watermark_watch.h"
#include "tests/support/rpc.h"
#include "tests/support/server_process.h"

namespace casement::stress {
namespace {

using support::Call;

std::vector<Habit> Habits() {
  return {
      {.name = "reader of finals", .finals_only = true},
      {.name = "reader of all", .max_response_bytes = 4096},
      {.name = "forgetful reader", .keep_every = 7, .max_response_bytes = 8192},
  };
}

class StressRun {
 public:
  StressRun(const RunOptions& options, Faults& faults)
      : options_(options),
        faults_(faults),
        server_(ServerOptions(options)),
        pace_(options.batches.has_value() ? Pace(*options.batches) : Pace()),
        watch_(faults),
        random_(options.seed) {}

  RunReport Run() {
    if (!Start() || !Define()) return {};
    StartThreads();
    for (int i = 0; i < options_.kills && !faults_.any(); ++i) KillOnce();
    // A run that is given its input ends by itself.
    if (!options_.batches.has_value() || faults_.any()) pace_.Stop();
    for (std::thread& thread : producer_threads_) thread.join();
    if (!faults_.any()) EndStream();
    for (std::thread& thread : subscriber_threads_) thread.join();
    if (!faults_.any()) CheckAccounts();
    return Report();
  }

 private:
  static support::ServerProcess::Options ServerOptions(
      const RunOptions& options) {
    support::ServerProcess::Options result;
    result.binary = options.binary;
    result.data_dir = options.directory + "/data";
    result.log_file = options.directory + "/log";
    return result;
  }

  bool Check(const std::string& what, const absl::Status& status) {
    if (!status.ok()) faults_.Add(absl::StrCat(what, ": ", status.ToString()));
    return status.ok();
  }
  bool Check(const std::string& what, const grpc::Status& status) {
    return Check(what, support::ToAbsl("call", status));
  }

  bool Start() {
    if (!Check("start", server_.Start())) return false;
    if (channel_ == nullptr) channel_ = server_.NewChannel();
    return true;
  }

  bool Define() {
    auto stub = v1::DefinitionService::NewStub(channel_);
    v1::CreateStreamRequest request;
    request.set_stream_id("orders");
    *request.mutable_stream() = OrdersStream();
    v1::Stream stream;
    if (!Check("CreateStream",
               Call(*stub, &v1::DefinitionService::Stub::CreateStream, request,
                    &stream))) {
      return false;
    }
    for (ViewKind kind : kViews) {
      v1::CreateViewRequest view_request;
      view_request.set_parent(kStream);
      view_request.set_view_id(ViewId(kind));
      *view_request.mutable_view() = OrdersView(kind);
      v1::View view;
      if (!Check("CreateView",
                 Call(*stub, &v1::DefinitionService::Stub::CreateView,
                      view_request, &view))) {
        return false;
      }
    }
    return true;
  }

  void StartThreads() {
    ingest_ = std::unique_ptr<Ingest>(
        new Ingest{options_.seed, channel_, pace_, watch_, faults_});
    producers_.push_back(std::make_unique<RowProducer>(*ingest_, 0));
    producers_.push_back(std::make_unique<ColumnProducer>(*ingest_, 1));
    for (const Habit& habit : Habits()) {
      for (ViewKind kind : kViews) {
        subscribers_.push_back(std::make_unique<Subscriber>(
            habit, kind, channel_, end_version_, faults_));
      }
    }
    for (auto& subscriber : subscribers_) {
      subscriber_threads_.emplace_back([&subscriber] { subscriber->Run(); });
    }
    for (auto& producer : producers_) {
      producer_threads_.emplace_back([&producer] { producer->Run(); });
    }
  }

  int64_t Between(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random_);
  }

  // When the kill comes is what this test is about: by the real clock.
  void Sleep(int64_t least_ms, int64_t most_ms) {
    std::this_thread::sleep_for(
        std::chrono::milliseconds(Between(least_ms, most_ms)));
  }

  // Lets the server run for a while, kills it and starts it again. Now and then
  // it is killed while it is still starting.
  void KillOnce() {
    if (Between(0, 4) == 0) {
      if (!Check("kill", server_.Kill()) || !Check("start", server_.Spawn())) {
        return;
      }
      ++kills_while_starting_;
      Sleep(0, 60);
    } else {
      Sleep(50, 500);
    }
    const Pace::Sequences acked = pace_.acked();
    const int64_t known = watch_.Known();
    if (Check("kill", server_.Kill()) && Start()) CheckAfterStart(acked, known);
  }

  // What was acknowledged before the kill is there.
  void CheckAfterStart(const Pace::Sequences& acked, int64_t known) {
    auto ingest = v1::IngestService::NewStub(channel_);
    for (int i = 0; i < kProducers; ++i) {
      v1::GetProducerRequest request;
      request.set_name(absl::StrCat(kStream, "/producers/", kProducerIds[i]));
      v1::Producer producer;
      const grpc::Status status = Call(
          *ingest, &v1::IngestService::Stub::GetProducer, request, &producer);
      if (status.error_code() == grpc::NOT_FOUND && acked[i] == 0) continue;
      if (!Check("GetProducer", status)) return;
      if (producer.last_sequence() < acked[i]) {
        faults_.Add(absl::StrCat("producer ", kProducerIds[i], " is at ",
                                 producer.last_sequence(), " after a kill, ",
                                 acked[i], " was acknowledged"));
      }
    }
    auto definitions = v1::DefinitionService::NewStub(channel_);
    v1::GetStreamRequest request;
    request.set_name(kStream);
    v1::Stream stream;
    if (!Check("GetStream",
               Call(*definitions, &v1::DefinitionService::Stub::GetStream,
                    request, &stream))) {
      return;
    }
    watch_.Saw("GetStream after a kill", known, stream.progress());
  }

  void EndStream() {
    auto stub = v1::DefinitionService::NewStub(channel_);
    v1::EndStreamRequest request;
    request.set_name(kStream);
    v1::Stream stream;
    if (Check("EndStream", Call(*stub, &v1::DefinitionService::Stub::EndStream,
                                request, &stream))) {
      end_version_ = stream.progress().version();
    }
  }

  void CheckAccounts() {
    const Pace::Sequences batches = pace_.acked();
    const int64_t events = (batches[0] + batches[1]) * kEventsPerBatch;
    auto stub = v1::AdminService::NewStub(channel_);
    for (ViewKind kind : kViews) {
      v1::GetStatsRequest request;
      request.set_name(ViewName(kind));
      v1::GetStatsResponse response;
      if (!Check("GetStats", Call(*stub, &v1::AdminService::Stub::GetStats,
                                  request, &response))) {
        return;
      }
      const v1::Stats& stats = response.stats();
      if (stats.accepted_events() != events ||
          stats.counted_events() != events || stats.late_events() != 0) {
        faults_.Add(absl::StrCat(events, " events were sent, but the accounts ",
                                 "of ", ViewId(kind), " are ",
                                 stats.ShortDebugString()));
      }
    }
  }

  RunReport Report() {
    RunReport report;
    report.batches = pace_.acked();
    report.kills_while_starting = kills_while_starting_;
    report.resent_batches = ingest_->resent;
    report.duplicate_batches = ingest_->duplicates;
    for (const auto& subscriber : subscribers_) {
      report.repeated_rows += subscriber->repeated_rows();
      report.provisional_rows += subscriber->provisional_rows();
      report.resumed_calls += subscriber->resumed();
      report.gathered.push_back(
          {subscriber->name(), subscriber->view(), subscriber->finals()});
    }
    return report;
  }

  const RunOptions options_;
  Faults& faults_;
  support::ServerProcess server_;
  std::shared_ptr<grpc::Channel> channel_;
  Pace pace_;
  WatermarkWatch watch_;
  std::mt19937_64 random_;
  std::atomic<int64_t> end_version_ = 0;
  int kills_while_starting_ = 0;
  std::unique_ptr<Ingest> ingest_;
  std::vector<std::unique_ptr<ProducerBase>> producers_;
  std::vector<std::unique_ptr<Subscriber>> subscribers_;
  std::vector<std::thread> producer_threads_;
  std::vector<std::thread> subscriber_threads_;
};

}  // namespace

RunReport Run(const RunOptions& options, Faults& faults) {
  std::error_code error;
  std::filesystem::create_directories(options.directory, error);
  if (error) {
    faults.Add(absl::StrCat(options.directory, ": ", error.message()));
    return {};
  }
  return StressRun(options, faults).Run();
}

}  // namespace casement::stress
