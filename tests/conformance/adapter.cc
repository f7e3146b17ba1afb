#include "tests/conformance/adapter.h"

#include <algorithm>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/results.h"
#include "tests/support/rpc.h"

namespace casement::conformance {
namespace {

using support::Call;
using support::ToAbsl;

// Small, so that listings are of several pages.
constexpr int kPageSize = 16;

Watermark ToWatermark(const v1::Progress& progress) {
  if (progress.ended()) return kPlusInfinity;
  if (!progress.has_watermark_time()) return std::nullopt;
  return FromTimestamp(progress.watermark_time());
}

}  // namespace

Adapter::Adapter(support::ServerProcess& server, const Pipeline& pipeline,
                 Form form, const std::string& stream_id)
    : server_(server),
      pipeline_(pipeline),
      stream_id_(stream_id),
      stream_(absl::StrCat("streams/", stream_id)),
      view_(absl::StrCat(stream_, "/views/v")),
      names_(pipeline),
      sender_(pipeline_, names_, form, stream_, &faults_),
      follower_(view_),
      ledger_(pipeline.is_session()) {}

void Adapter::Connect() {
  channel_ = server_.NewChannel();
  definitions_ = v1::DefinitionService::NewStub(channel_);
  results_ = v1::ResultService::NewStub(channel_);
  admin_ = v1::AdminService::NewStub(channel_);
  test_ = v1::TestService::NewStub(channel_);
  sender_.Connect(channel_);
}

void Adapter::Disconnect() {
  definitions_.reset();
  results_.reset();
  admin_.reset();
  test_.reset();
  sender_.Disconnect();
  channel_.reset();
}

absl::Status Adapter::Begin() {
  Connect();
  if (absl::Status s = SetClock(std::nullopt); !s.ok()) return s;
  v1::CreateStreamRequest stream_request;
  stream_request.set_stream_id(stream_id_);
  *stream_request.mutable_stream() =
      MakeStream(pipeline_, names_, sender_.SourceIds());
  v1::Stream stream;
  grpc::Status status =
      Call(*definitions_, &v1::DefinitionService::Stub::CreateStream,
           stream_request, &stream);
  if (!status.ok()) return ToAbsl("CreateStream", status);

  v1::CreateViewRequest view_request;
  view_request.set_parent(stream_);
  view_request.set_view_id("v");
  *view_request.mutable_view() = MakeView(pipeline_, names_);
  v1::View view;
  status = Call(*definitions_, &v1::DefinitionService::Stub::CreateView,
                view_request, &view);
  if (!status.ok()) return ToAbsl("CreateView", status);
  return follower_.Open(channel_);
}

absl::StatusOr<StepOutcome> Adapter::Carry(const Step& step) {
  StepOutcome outcome;
  if (absl::Status s = CarryOut(step, &outcome); !s.ok()) return s;
  if (absl::Status s = ReadResults(&outcome); !s.ok()) return s;
  absl::StatusOr<Watermark> watermark = ReadWatermark();
  if (!watermark.ok()) return watermark.status();
  outcome.watermark = *watermark;
  return outcome;
}

absl::Status Adapter::CarryOut(const Step& step, StepOutcome* outcome) {
  if (step.op == "ingest") return sender_.Ingest(step, outcome);
  if (step.op == "advance_watermark") return sender_.Advance(step);
  if (step.op == "mark_idle") return sender_.MarkIdle(step);
  if (step.op == "set_clock") return SetClock(step.to);
  if (step.op == "restart") return Restart(/*kill=*/false);
  if (step.op == "crash") return Restart(/*kill=*/true);
  if (step.op == "end_of_stream") return EndStream();
  return absl::InvalidArgumentError(absl::StrCat("no such step: ", step.op));
}

absl::Status Adapter::SetClock(std::optional<Micros> time) {
  clock_ = time;
  sender_.set_guarded(pipeline_.future.has_value() && time.has_value());
  v1::SetClockRequest request;
  v1::SetClockResponse response;
  if (time.has_value()) *request.mutable_time() = ToTimestamp(*time);
  return ToAbsl("SetClock", Call(*test_, &v1::TestService::Stub::SetClock,
                                 request, &response));
}

absl::Status Adapter::Restart(bool kill) {
  absl::Status stopped;
  {
    // A client that is there reads what comes while the server stops, and goes
    // when it is told to.
    std::thread reader([this] {
      follower_.ReadRest();
      Disconnect();
    });
    stopped = kill ? server_.Kill() : Terminate();
    reader.join();
  }
  if (!stopped.ok()) return stopped;
  if (absl::Status s = server_.Start(); !s.ok()) return s;
  Connect();
  // The server forgets its clock when it stops.
  if (clock_.has_value()) {
    if (absl::Status s = SetClock(clock_); !s.ok()) return s;
  }
  return follower_.Open(channel_);
}

absl::Status Adapter::Terminate() {
  absl::StatusOr<int> code = server_.Terminate();
  if (!code.ok()) return code.status();
  if (*code == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("casementd exited with code ", *code,
                                          " on SIGTERM:\n", server_.LogTail()));
}

absl::Status Adapter::EndStream() {
  v1::EndStreamRequest request;
  request.set_name(stream_);
  v1::Stream stream;
  const grpc::Status status = Call(
      *definitions_, &v1::DefinitionService::Stub::EndStream, request, &stream);
  if (!status.ok()) return ToAbsl("EndStream", status);
  if (!stream.progress().ended()) {
    faults_.push_back(absl::StrCat("EndStream answers with ",
                                   stream.progress().ShortDebugString()));
  }
  end_version_ = stream.progress().version();
  return absl::OkStatus();
}

int64_t Adapter::version() const {
  return std::max(sender_.version(), end_version_);
}

absl::Status Adapter::ReadResults(StepOutcome* outcome) {
  if (absl::Status s = follower_.ReadUntil(version()); !s.ok()) return s;
  for (const v1::WindowResult& result : follower_.Take()) {
    absl::StatusOr<SentRow> row = FromResult(result, pipeline_);
    if (!row.ok()) return row.status();
    if (row->version > version()) {
      faults_.push_back(absl::StrCat("a row of version ", row->version,
                                     " is sent before there is one after ",
                                     version()));
    }
    ledger_.Take(*row);
  }
  ledger_.FinishStep(outcome, &faults_);
  return absl::OkStatus();
}

absl::StatusOr<Watermark> Adapter::ReadWatermark() {
  v1::GetStreamRequest request;
  request.set_name(stream_);
  v1::Stream stream;
  const grpc::Status status = Call(
      *definitions_, &v1::DefinitionService::Stub::GetStream, request, &stream);
  if (!status.ok()) return ToAbsl("GetStream", status);
  const v1::Progress& progress = stream.progress();
  std::optional<v1::Progress> acked = sender_.TakeProgress();
  if (acked.has_value() && ToWatermark(*acked) != ToWatermark(progress)) {
    faults_.push_back(absl::StrCat("the last answer says ",
                                   acked->ShortDebugString(), " and GetStream ",
                                   progress.ShortDebugString()));
  }
  if (progress.version() < version()) {
    faults_.push_back(absl::StrCat("GetStream is at version ",
                                   progress.version(),
                                   ", behind the acknowledged ", version()));
  }
  return ToWatermark(progress);
}

absl::StatusOr<std::vector<SentRow>> Adapter::List(v1::Finality finality) {
  std::vector<SentRow> rows;
  v1::ListWindowsRequest request;
  request.set_parent(view_);
  request.add_finalities(finality);
  request.set_page_size(kPageSize);
  request.set_min_version(version());
  do {
    v1::ListWindowsResponse response;
    const grpc::Status status = Call(
        *results_, &v1::ResultService::Stub::ListWindows, request, &response);
    if (!status.ok()) return ToAbsl("ListWindows", status);
    for (const v1::WindowResult& result : response.windows()) {
      absl::StatusOr<SentRow> row = FromResult(result, pipeline_);
      if (!row.ok()) return row.status();
      if (result.finality() != finality) {
        faults_.push_back(absl::StrCat("a listing of ",
                                       v1::Finality_Name(finality), " has ",
                                       Describe(row->row)));
      }
      rows.push_back(*std::move(row));
    }
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  return rows;
}

absl::StatusOr<v1::Stats> Adapter::ReadStats(const std::string& name) {
  v1::GetStatsRequest request;
  request.set_name(name);
  v1::GetStatsResponse response;
  const grpc::Status status =
      Call(*admin_, &v1::AdminService::Stub::GetStats, request, &response);
  if (!status.ok()) return ToAbsl("GetStats", status);
  return response.stats();
}

absl::Status Adapter::ReadAccounts(EndOutcome* outcome) {
  absl::StatusOr<v1::Stats> view = ReadStats(view_);
  if (!view.ok()) return view.status();
  absl::StatusOr<v1::Stats> stream = ReadStats(stream_);
  if (!stream.ok()) return stream.status();
  outcome->accepted = view->counted_events();
  outcome->late = view->late_events();
  if (view->accepted_events() != view->counted_events() + view->late_events() +
                                     view->unassigned_events() +
                                     view->filtered_events()) {
    faults_.push_back(absl::StrCat("the view's accounts don't add up: ",
                                   view->ShortDebugString()));
  }
  if (stream->received_events() != stream->accepted_events() +
                                       stream->rejected_events() +
                                       stream->duplicate_events() ||
      stream->accepted_events() != view->accepted_events()) {
    faults_.push_back(absl::StrCat("the stream's accounts don't add up: ",
                                   stream->ShortDebugString()));
  }
  return absl::OkStatus();
}

absl::StatusOr<EndOutcome> Adapter::End() {
  EndOutcome outcome;
  absl::StatusOr<std::vector<SentRow>> open = List(v1::FINALITY_PROVISIONAL);
  if (!open.ok()) return open.status();
  absl::StatusOr<std::vector<SentRow>> finals = List(v1::FINALITY_FINAL);
  if (!finals.ok()) return finals.status();
  for (const SentRow& row : *open) outcome.open.push_back(row.row);
  ledger_.CompareWithListed(*finals, *open, &faults_);
  absl::StatusOr<Watermark> watermark = ReadWatermark();
  if (!watermark.ok()) return watermark.status();
  outcome.watermark = *watermark;
  if (absl::Status s = ReadAccounts(&outcome); !s.ok()) return s;
  return outcome;
}

absl::Status Adapter::Remove() {
  v1::DeleteStreamRequest request;
  request.set_name(stream_);
  request.set_force(true);
  google::protobuf::Empty response;
  return ToAbsl("DeleteStream",
                Call(*definitions_, &v1::DefinitionService::Stub::DeleteStream,
                     request, &response));
}

}  // namespace casement::conformance
