#include "tests/client/fake_server.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "client/channel.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace casement::client {
namespace {

grpc::Status Broken() {
  return grpc::Status(grpc::StatusCode::UNAVAILABLE, "connection broken");
}

v1::FieldSpec Field(const std::string& name, v1::FieldType type) {
  v1::FieldSpec field;
  field.set_name(name);
  field.set_type(type);
  return field;
}

}  // namespace

grpc::Status ServiceError(grpc::StatusCode code, const std::string& reason,
                          const std::string& message,
                          const std::map<std::string, std::string>& metadata) {
  google::rpc::ErrorInfo info;
  info.set_reason(reason);
  info.set_domain("casement");
  info.mutable_metadata()->insert(metadata.begin(), metadata.end());
  google::rpc::Status status;
  status.set_code(code);
  status.set_message(message);
  status.add_details()->PackFrom(info);
  return grpc::Status(code, message, status.SerializeAsString());
}

// --- Ingest ---

std::vector<DecodedEvent> FakeIngest::Events(const std::string& producer) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<DecodedEvent> events;
  for (const v1::Batch& batch : producers_[producer].batches) {
    for (DecodedEvent& event : Decode(batch)) events.push_back(event);
  }
  return events;
}

FakeIngest::State FakeIngest::Get(const std::string& producer) {
  std::lock_guard<std::mutex> lock(mutex_);
  return producers_[producer];
}

void FakeIngest::Set(const std::string& producer, const State& state) {
  std::lock_guard<std::mutex> lock(mutex_);
  producers_[producer] = state;
}

int64_t FakeIngest::closed_at() {
  std::lock_guard<std::mutex> lock(mutex_);
  return closed_at_;
}

void FakeIngest::Fence(const std::string& producer) {
  std::lock_guard<std::mutex> lock(mutex_);
  ++producers_[producer].epoch;
}

grpc::Status FakeIngest::OpenProducer(grpc::ServerContext*,
                                      const v1::OpenProducerRequest* request,
                                      v1::OpenProducerResponse* response) {
  std::lock_guard<std::mutex> lock(mutex_);
  const std::string name =
      request->stream() + "/producers/" + request->producer_id();
  State& state = producers_[name];
  if (request->has_expected_epoch() &&
      request->expected_epoch() != state.epoch) {
    return ServiceError(grpc::StatusCode::FAILED_PRECONDITION,
                        "PRODUCER_FENCED", "another epoch");
  }
  ++state.epoch;
  if (lose_open_answers > 0) {
    --lose_open_answers;
    if (on_lost_open) on_lost_open(&state);
    return Broken();
  }
  response->set_name(name);
  response->set_epoch(state.epoch);
  response->set_last_sequence(state.last_sequence);
  response->set_source_position(state.position);
  *response->mutable_limits() = limits;
  return grpc::Status::OK;
}

grpc::Status FakeIngest::GetProducer(grpc::ServerContext*,
                                     const v1::GetProducerRequest* request,
                                     v1::Producer* producer) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = producers_.find(request->name());
  if (it == producers_.end()) {
    return ServiceError(grpc::StatusCode::NOT_FOUND, "NO_SUCH_RESOURCE",
                        "no such producer");
  }
  producer->set_name(request->name());
  producer->set_epoch(it->second.epoch);
  producer->set_last_sequence(it->second.last_sequence);
  producer->set_accepted_events(it->second.accepted);
  return grpc::Status::OK;
}

grpc::Status FakeIngest::Take(const v1::Batch& batch, State* state,
                              v1::BatchAck* ack) {
  const int64_t sequence = batch.sequence();
  if (sequence <= state->last_sequence) {
    *ack = state->answers[sequence];
    ack->set_duplicate(true);
    return grpc::Status::OK;
  }
  if (sequence != state->last_sequence + 1) {
    return ServiceError(grpc::StatusCode::ABORTED, "SEQUENCE_GAP", "a gap");
  }
  if (judge) {
    const grpc::Status status = judge(batch);
    if (!status.ok()) return status;
  }
  ack->set_sequence(sequence);
  ack->set_version(sequence * 10);
  const std::vector<DecodedEvent> events = Decode(batch);
  for (size_t i = 0; i < events.size(); ++i) {
    // The one check that the fake knows of, and one mark of lateness.
    const auto amount = events[i].fields.find("amount");
    const bool wrong = amount != events[i].fields.end() &&
                       !std::holds_alternative<int64_t>(amount->second);
    if (events[i].time_us && !wrong) {
      ack->set_accepted_events(ack->accepted_events() + 1);
      if (*events[i].time_us < 0) ack->set_late_events(ack->late_events() + 1);
      continue;
    }
    v1::RejectSummary& rejects = *ack->mutable_rejects();
    rejects.set_rejected_events(rejects.rejected_events() + 1);
    auto& example = *rejects.add_examples();
    example.set_index(static_cast<int>(i));
    example.set_reason(wrong ? v1::REJECT_REASON_WRONG_TYPE
                             : v1::REJECT_REASON_MISSING_TIME);
    auto& count = *rejects.add_counts();
    count.set_reason(example.reason());
    count.set_count(1);
  }
  state->last_sequence = sequence;
  state->accepted += ack->accepted_events();
  if (!batch.source_position().empty()) {
    state->position = batch.source_position();
  }
  state->answers[sequence] = *ack;
  state->batches.push_back(batch);
  ++taken_;
  return grpc::Status::OK;
}

bool FakeIngest::BreakNow() {
  if (break_after.empty() || taken_ < break_after.front()) return false;
  break_after.erase(break_after.begin());
  return true;
}

grpc::Status FakeIngest::AppendStream(
    grpc::ServerContext*,
    grpc::ServerReaderWriter<v1::AppendStreamResponse, v1::AppendStreamRequest>*
        stream) {
  v1::AppendStreamRequest request;
  v1::AppendStreamResponse response;
  if (!stream->Read(&request)) return Broken();
  const v1::AppendStreamRequest::Open open = request.open();
  v1::AppendStreamResponse held;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    response.mutable_opened()->set_last_sequence(
        producers_[open.producer()].last_sequence);
  }
  stream->Write(response);
  bool blocked = false;
  while (stream->Read(&request)) {
    while (paused && paused()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::unique_lock<std::mutex> lock(mutex_);
    State& state = producers_[open.producer()];
    if (open.epoch() != state.epoch) {
      return ServiceError(grpc::StatusCode::FAILED_PRECONDITION,
                          "PRODUCER_FENCED", "another holder has it");
    }
    if (request.has_close()) {
      closed_at_ = request.close().last_sequence();
      lock.unlock();
      if (held.has_committed()) stream->Write(held);
      return grpc::Status::OK;
    }
    if (blocked) continue;  // Until it is sent right, on a new call here.
    v1::BatchAck ack;
    const grpc::Status status = Take(request.batch(), &state, &ack);
    if (status.ok() && BreakNow()) return Broken();
    lock.unlock();
    if (!status.ok()) {
      blocked = true;
      auto& failed = *response.mutable_failed();
      failed.Clear();
      failed.set_sequence(request.batch().sequence());
      failed.mutable_status()->ParseFromString(status.error_details());
      failed.mutable_status()->set_code(status.error_code());
      failed.mutable_status()->set_message(status.error_message());
      if (retry_delay_ms > 0) {
        failed.mutable_retry_delay()->set_nanos(retry_delay_ms * 1'000'000);
      }
      stream->Write(response);
      continue;
    }
    auto& committed = *held.mutable_committed();
    committed.set_through_sequence(ack.sequence());
    committed.set_version(ack.version());
    if (ack.has_rejects() || ack.late_events() > 0 || ack.duplicate()) {
      *committed.add_notable() = ack;
    }
    if (lazy_acks) continue;
    stream->Write(held);
    held.Clear();
  }
  return ServiceError(grpc::StatusCode::ABORTED, "NOT_CLOSED", "no close");
}

// --- Definitions ---

grpc::Status FakeDefinitions::CreateStream(
    grpc::ServerContext*, const v1::CreateStreamRequest* request,
    v1::Stream* stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  *stream = request->stream();
  stream->set_name("streams/" + request->stream_id());
  if (!request->validate_only()) streams[stream->name()] = *stream;
  return grpc::Status::OK;
}

grpc::Status FakeDefinitions::GetStream(grpc::ServerContext*,
                                        const v1::GetStreamRequest* request,
                                        v1::Stream* stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = streams.find(request->name());
  if (it == streams.end()) {
    return ServiceError(grpc::StatusCode::NOT_FOUND, "NO_SUCH_RESOURCE",
                        "there is no stream \"" + request->name() + "\"");
  }
  *stream = it->second;
  return grpc::Status::OK;
}

grpc::Status FakeDefinitions::ListStreams(grpc::ServerContext*,
                                          const v1::ListStreamsRequest* request,
                                          v1::ListStreamsResponse* response) {
  // One a page.
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = streams.upper_bound(request->page_token());
  if (it == streams.end()) return grpc::Status::OK;
  *response->add_streams() = it->second;
  if (std::next(it) != streams.end()) {
    response->set_next_page_token(it->first);
  }
  return grpc::Status::OK;
}

grpc::Status FakeDefinitions::EndStream(grpc::ServerContext*,
                                        const v1::EndStreamRequest* request,
                                        v1::Stream* stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  ended.push_back(request->name());
  *stream = streams[request->name()];
  return grpc::Status::OK;
}

grpc::Status FakeDefinitions::CreateView(grpc::ServerContext*,
                                         const v1::CreateViewRequest* request,
                                         v1::View* view) {
  std::lock_guard<std::mutex> lock(mutex_);
  *view = request->view();
  view->set_name(request->parent() + "/views/" + request->view_id());
  views[view->name()] = *view;
  return grpc::Status::OK;
}

grpc::Status FakeDefinitions::GetView(grpc::ServerContext*,
                                      const v1::GetViewRequest* request,
                                      v1::View* view) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = views.find(request->name());
  if (it == views.end()) {
    return ServiceError(grpc::StatusCode::NOT_FOUND, "NO_SUCH_RESOURCE",
                        "there is no view \"" + request->name() + "\"");
  }
  *view = it->second;
  return grpc::Status::OK;
}

// --- Results ---

void FakeResults::Stop() {
  std::lock_guard<std::mutex> lock(mutex);
  stopped_ = true;
}

grpc::Status FakeResults::Subscribe(
    grpc::ServerContext* context, const v1::SubscribeRequest* request,
    grpc::ServerWriter<v1::SubscribeResponse>* writer) {
  size_t at = 0;
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopped_ = false;
    requests.push_back(*request);
    if (request->start_case() == v1::SubscribeRequest::kCursor) {
      if (request->cursor().empty() || request->cursor()[0] != 'c') {
        return ServiceError(grpc::StatusCode::INVALID_ARGUMENT,
                            "CURSOR_INVALID", "not a cursor of this view");
      }
      at = std::stoul(request->cursor().substr(1));
    } else if (request->position() != v1::POSITION_OLDEST) {
      at = log.size();
    }
  }
  v1::SubscribeResponse response;
  response.set_cursor("c" + std::to_string(at));
  response.mutable_opened()->mutable_head_progress()->set_ended(ended);
  writer->Write(response);
  bool synced = false;
  while (!context->IsCancelled()) {
    response.Clear();
    bool broken = false;
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (stopped_) return Broken();
      const size_t end =
          std::min(log.size(), at + static_cast<size_t>(results_per_response));
      for (; at < end; ++at) {
        *response.mutable_results()->add_results() = log[at];
      }
      if (response.has_results()) {
        ++sent_;
        broken = !break_after.empty() && sent_ >= break_after.front();
        if (broken) break_after.erase(break_after.begin());
      } else if (!synced) {
        synced = true;
        response.mutable_synced()->mutable_progress()->set_ended(ended);
      }
      response.set_cursor("c" + std::to_string(at));
    }
    if (response.response_case() != v1::SubscribeResponse::RESPONSE_NOT_SET) {
      writer->Write(response);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (broken) return Broken();
  }
  return Broken();
}

grpc::Status FakeResults::ListWindows(grpc::ServerContext*,
                                      const v1::ListWindowsRequest* request,
                                      v1::ListWindowsResponse* response) {
  // Two a page.
  std::lock_guard<std::mutex> lock(mutex);
  size_t at =
      request->page_token().empty() ? 0 : std::stoul(request->page_token());
  const size_t end = std::min(log.size(), at + 2);
  for (; at < end; ++at) *response->add_windows() = log[at];
  if (at < log.size()) response->set_next_page_token(std::to_string(at));
  return grpc::Status::OK;
}

// --- Admin ---

grpc::Status FakeAdmin::GetServerInfo(grpc::ServerContext*,
                                      const v1::GetServerInfoRequest*,
                                      v1::GetServerInfoResponse* response) {
  response->set_version("fake");
  response->set_state(v1::SERVER_STATE_SERVING);
  return grpc::Status::OK;
}

grpc::Status FakeAdmin::GetStats(grpc::ServerContext*,
                                 const v1::GetStatsRequest*,
                                 v1::GetStatsResponse* response) {
  *response->mutable_stats() = stats;
  return grpc::Status::OK;
}

// --- The server ---

FakeServer::FakeServer() {
  v1::Stream& stream = definitions.streams["streams/s"];
  stream.set_name("streams/s");
  *stream.add_fields() = Field("name", v1::FIELD_TYPE_STRING);
  *stream.add_fields() = Field("amount", v1::FIELD_TYPE_INT64);
  *stream.add_fields() = Field("ratio", v1::FIELD_TYPE_DOUBLE);
  *stream.add_fields() = Field("ok", v1::FIELD_TYPE_BOOL);
  *stream.add_fields() = Field("raw", v1::FIELD_TYPE_BYTES);
  stream.mutable_watermark_policy()
      ->mutable_bounded_delay()
      ->mutable_max_delay();
  v1::View& view = definitions.views["streams/s/views/v"];
  view.set_name("streams/s/views/v");
  view.mutable_spec()->add_group_by("name");
  auto& aggregate = *view.mutable_spec()->add_aggregates();
  aggregate.set_alias("n");
  aggregate.set_function(v1::AggregateSpec::FUNCTION_COUNT);
  Start();
}

FakeServer::~FakeServer() { Stop(); }

void FakeServer::Start() {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:" + std::to_string(port_),
                           grpc::InsecureServerCredentials(), &port_);
  builder.RegisterService(&ingest);
  builder.RegisterService(&definitions);
  builder.RegisterService(&results);
  builder.RegisterService(&admin);
  server_ = builder.BuildAndStart();
}

void FakeServer::Stop() {
  if (!server_) return;
  results.Stop();
  server_->Shutdown(std::chrono::system_clock::now());
  server_.reset();
}

std::string FakeServer::address() const {
  return "127.0.0.1:" + std::to_string(port_);
}

std::shared_ptr<grpc::Channel> FakeServer::channel() const {
  return MakeChannel(address());
}

}  // namespace casement::client
