#include "tests/conformance/sender.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/conformance/batch.h"
#include "tests/conformance/fates.h"
#include "tests/support/rpc.h"

namespace casement::conformance {
namespace {

using support::Call;
using support::ToAbsl;

// The producer of steps that name none, and the one that advances the
// watermark where no other may. No label of a case has these bytes.
constexpr char kUnnamed[] = "\x01unnamed";
constexpr char kClerk[] = "\x01clerk";

}  // namespace

Sender::Sender(const Pipeline& pipeline, const ApiNames& names, Form form,
               const std::string& stream, std::vector<std::string>* faults)
    : pipeline_(pipeline),
      names_(names),
      form_(form),
      stream_(stream),
      faults_(faults) {}

void Sender::Connect(const std::shared_ptr<grpc::Channel>& channel) {
  stub_ = v1::IngestService::NewStub(channel);
}

std::vector<std::string> Sender::SourceIds() {
  std::vector<std::string> ids;
  if (!pipeline_.sources.has_value()) return ids;
  for (const std::string& label : *pipeline_.sources) {
    ids.push_back(Named(label).id);
  }
  return ids;
}

std::optional<v1::Progress> Sender::TakeProgress() {
  return std::exchange(progress_, std::nullopt);
}

Sender::Producer& Sender::Named(const std::string& label) {
  auto [place, is_new] = producers_.try_emplace(label);
  if (is_new) place->second.id = absl::StrCat("p", producers_.size());
  return place->second;
}

std::string Sender::LabelOf(const Event& event, const Step& step) const {
  if (pipeline_.sources.has_value()) {
    if (event.source.has_value()) return *event.source;
    if (step.source.has_value()) return *step.source;
  }
  // Batch numbers belong to the producer that a step names, whether or not it
  // is a source of its own.
  return step.producer.value_or(kUnnamed);
}

absl::Status Sender::Open(Producer& producer) {
  if (producer.opened()) return absl::OkStatus();
  v1::OpenProducerRequest request;
  request.set_stream(stream_);
  request.set_producer_id(producer.id);
  v1::OpenProducerResponse response;
  const grpc::Status status =
      Call(*stub_, &v1::IngestService::Stub::OpenProducer, request, &response);
  if (!status.ok()) return ToAbsl("OpenProducer", status);
  if (response.last_sequence() != 0 || response.epoch() <= 0) {
    return absl::InternalError(absl::StrCat("a new producer is opened as ",
                                            response.ShortDebugString()));
  }
  producer.epoch = response.epoch();
  return absl::OkStatus();
}

absl::Status Sender::Ingest(const Step& step, StepOutcome* outcome) {
  // Consecutive batches of one producer each. No events make no batch: the API
  // has none with nothing in it.
  size_t begin = 0;
  while (begin < step.events.size()) {
    const std::string label = LabelOf(step.events[begin], step);
    std::vector<const Event*> run;
    while (begin + run.size() < step.events.size() &&
           LabelOf(step.events[begin + run.size()], step) == label) {
      run.push_back(&step.events[begin + run.size()]);
    }
    std::optional<std::string> number;
    if (pipeline_.dedup == "batch_seq" && step.seq.has_value()) {
      number = absl::StrCat(label, "\n", step.producer.value_or(""), "\n",
                            *step.seq, "\n", begin);
    }
    absl::Status status = SendEvents(Named(label), run, number, outcome);
    if (!status.ok()) return status;
    begin += run.size();
  }
  return absl::OkStatus();
}

absl::Status Sender::SendEvents(Producer& producer,
                                absl::Span<const Event* const> events,
                                const std::optional<std::string>& number,
                                StepOutcome* outcome) {
  if (absl::Status status = Open(producer); !status.ok()) return status;
  v1::Batch batch = MakeBatch(events);
  const bool repeat = number.has_value() && sequences_.count(*number) > 0;
  batch.set_sequence(repeat ? sequences_[*number] : producer.next_sequence);
  v1::BatchAck ack;
  grpc::Status refused;
  absl::Status status = Append(producer, batch, &ack, &refused);
  if (!status.ok()) return status;
  if (!refused.ok()) {
    // It takes no number: the next one goes under it.
    if (ReadRefusal(refused, events, pipeline_, outcome)) {
      return absl::OkStatus();
    }
    return ToAbsl("AppendBatch", refused);
  }
  if (ack.duplicate() != repeat) {
    faults_->push_back(
        absl::StrCat("batch ", batch.sequence(), " of producer ", producer.id,
                     repeat ? " is a repeat and is not answered as one"
                            : " is new and is answered as a repeat"));
  }
  if (!repeat) {
    ++producer.next_sequence;
    if (number.has_value()) sequences_[*number] = batch.sequence();
  }
  // Refused events and repeats are not speech.
  if (!ack.duplicate() && ack.accepted_events() > 0) producer.idle = false;
  ReadAck(ack, events, pipeline_, outcome, faults_);
  return absl::OkStatus();
}

v1::Batch Sender::MakeBatch(absl::Span<const Event* const> events) {
  v1::Batch batch;
  ++batches_;
  if (form_ == Form::kColumns) {
    std::optional<v1::ColumnBatch> columns =
        MakeColumns(events, pipeline_, names_);
    if (columns.has_value()) {
      *batch.mutable_columns() = *std::move(columns);
      return batch;
    }
    ++batches_as_rows_;
  }
  *batch.mutable_rows() = MakeRows(events, pipeline_, names_);
  return batch;
}

absl::Status Sender::Append(const Producer& producer, const v1::Batch& batch,
                            v1::BatchAck* ack, grpc::Status* refused) {
  v1::AppendBatchRequest request;
  request.set_producer(absl::StrCat(stream_, "/producers/", producer.id));
  request.set_epoch(producer.epoch);
  *request.mutable_batch() = batch;
  request.set_report(v1::REPORT_FATES);
  v1::AppendBatchResponse response;
  const grpc::Status status =
      Call(*stub_, &v1::IngestService::Stub::AppendBatch, request, &response);
  if (status.error_code() == grpc::INVALID_ARGUMENT) {
    *refused = status;
    return absl::OkStatus();
  }
  if (!status.ok()) return ToAbsl("AppendBatch", status);
  *ack = response.ack();
  if (ack->sequence() != batch.sequence()) {
    faults_->push_back(absl::StrCat("the answer to batch ", batch.sequence(),
                                    " is for batch ", ack->sequence()));
  }
  if (!ack->duplicate()) {
    if (ack->version() <= version_) {
      faults_->push_back(absl::StrCat("version ", ack->version(),
                                      " comes after version ", version_));
    }
    progress_ = ack->progress();
  }
  version_ = std::max(version_, ack->version());
  return absl::OkStatus();
}

absl::Status Sender::Advance(const Step& step) {
  if (step.source.has_value() && pipeline_.sources.has_value()) {
    return Assert(Named(*step.source), *step.to);
  }
  const std::vector<std::string> sources =
      pipeline_.sources.value_or(std::vector<std::string>());
  bool asserted = false;
  for (auto& [label, producer] : producers_) {
    const bool listed =
        std::find(sources.begin(), sources.end(), label) != sources.end();
    if (producer.idle || (!listed && !producer.opened())) continue;
    absl::Status status = Assert(producer, *step.to);
    if (!status.ok()) return status;
    asserted = true;
  }
  if (asserted) return absl::OkStatus();
  // Nobody is there to say it. With sources, whoever says it must not be waited
  // for when they are back.
  if (!pipeline_.sources.has_value()) {
    return Assert(Named(kUnnamed), *step.to);
  }
  Producer& clerk = Named(kClerk);
  absl::Status status = Assert(clerk, *step.to);
  return status.ok() ? SayIdle(clerk) : status;
}

absl::Status Sender::Assert(Producer& producer, Micros time) {
  if (absl::Status status = Open(producer); !status.ok()) return status;
  v1::Batch batch;
  batch.set_sequence(producer.next_sequence);
  *batch.mutable_watermark_time() = ToTimestamp(time);
  v1::BatchAck ack;
  grpc::Status refused;
  absl::Status status = Append(producer, batch, &ack, &refused);
  if (!status.ok()) return status;
  if (!refused.ok()) {
    // A guard refuses an assertion that is too far ahead, and nothing moves.
    if (guarded_) return absl::OkStatus();
    return ToAbsl("AppendBatch with an assertion", refused);
  }
  ++producer.next_sequence;
  producer.idle = false;
  return absl::OkStatus();
}

absl::Status Sender::MarkIdle(const Step& step) {
  return SayIdle(
      Named(pipeline_.sources.has_value() ? *step.source : kUnnamed));
}

absl::Status Sender::SayIdle(Producer& producer) {
  if (absl::Status status = Open(producer); !status.ok()) return status;
  v1::Batch batch;
  batch.set_sequence(producer.next_sequence);
  batch.set_source_state(v1::SOURCE_STATE_IDLE);
  v1::BatchAck ack;
  grpc::Status refused;
  absl::Status status = Append(producer, batch, &ack, &refused);
  if (!status.ok()) return status;
  if (!refused.ok()) return ToAbsl("AppendBatch with IDLE", refused);
  ++producer.next_sequence;
  producer.idle = true;
  return absl::OkStatus();
}

}  // namespace casement::conformance
