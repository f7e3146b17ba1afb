#include "server/rpc/append_stream_reactor.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/engine/error.h"
#include "server/rpc/ack_conversion.h"
#include "server/rpc/limits.h"
#include "server/rpc/status_conversion.h"

namespace casement::rpc {
namespace {

absl::Status NotClosed(absl::string_view message, int64_t committed) {
  return engine::MakeError(absl::StatusCode::kAborted, engine::kNotClosed,
                           message,
                           {{"committed_sequence", absl::StrCat(committed)}});
}

absl::Status CheckEpoch(const engine::ProducerInfo& producer, int64_t epoch) {
  if (producer.epoch == epoch) return absl::OkStatus();
  return engine::MakeError(
      absl::StatusCode::kFailedPrecondition, engine::kProducerFenced,
      absl::StrCat("producer \"", producer.id, "\" has epoch ", producer.epoch,
                   ", not ", epoch),
      {{"current_epoch", absl::StrCat(producer.epoch)}});
}

}  // namespace

AppendStreamReactor* AppendStreamReactor::Start(ServiceContext* services) {
  std::shared_ptr<AppendStreamReactor> reactor(new AppendStreamReactor);
  reactor->self_ = reactor;
  const absl::StatusOr<runtime::Runtime*> runtime = services->Enter();
  if (!runtime.ok()) {
    reactor->Finish(runtime.status());
    return reactor.get();
  }
  reactor->services_ = services;
  reactor->runtime_ = *runtime;
  reactor->registration_ = services->calls().Add(reactor);
  std::lock_guard lock(reactor->mutex_);
  reactor->Proceed();
  return reactor.get();
}

void AppendStreamReactor::OnReadDone(bool ok) {
  if (ok) return Handle(request_);
  std::lock_guard lock(mutex_);
  reading_ = false;
  read_ended_ = true;
  Proceed();
}

void AppendStreamReactor::OnWriteDone(bool ok) {
  std::lock_guard lock(mutex_);
  writing_ = false;
  batches_.Written();
  if (!ok) return FinishLocked(absl::CancelledError("the client is gone"));
  Proceed();
}

void AppendStreamReactor::OnCancel() {
  Finish(absl::CancelledError("the call was cancelled"));
}

void AppendStreamReactor::OnDone() {
  // The last reaction. Others who still hold the reactor, beyond the server's
  // end perhaps, find it finished.
  const std::shared_ptr<AppendStreamReactor> self = std::move(self_);
  registration_ = CallRegistry::Registration();
}

void AppendStreamReactor::Drain() {
  std::lock_guard lock(mutex_);
  draining_ = true;
  Proceed();
}

void AppendStreamReactor::Handle(const v1::AppendStreamRequest& request) {
  const bool is_open = request.request_case() == v1::AppendStreamRequest::kOpen;
  if (is_open != (decoder_ == nullptr)) {
    return Finish(engine::InvalidField(
        "open", is_open ? "must come once only" : "must come first"));
  }
  switch (request.request_case()) {
    case v1::AppendStreamRequest::kOpen:
      return HandleOpen(request.open());
    case v1::AppendStreamRequest::kBatch:
      return HandleBatch(request.batch());
    case v1::AppendStreamRequest::kClose:
      return HandleClose(request.close());
    case v1::AppendStreamRequest::REQUEST_NOT_SET:
      return Finish(engine::InvalidField(
          "request", "one of open, batch and close is required"));
  }
}

void AppendStreamReactor::HandleOpen(
    const v1::AppendStreamRequest::Open& open) {
  absl::StatusOr<ChildName> producer =
      ParseProducerName("open.producer", open.producer());
  if (!producer.ok()) return Finish(producer.status());
  if (open.epoch() < 1) {
    return Finish(engine::InvalidField("open.epoch", "must be 1 or more"));
  }
  const absl::StatusOr<runtime::AppendOptions> options =
      ToAppendOptions("open.", open.durability(), open.report());
  if (!options.ok()) return Finish(options.status());
  absl::StatusOr<std::shared_ptr<const engine::StreamSpec>> stream =
      runtime_->FindStreamSpec(producer->stream);
  if (!stream.ok()) return Finish(stream.status());
  producer_ = *std::move(producer);
  epoch_ = open.epoch();
  options_ = *options;
  decoder_ = std::make_unique<BatchDecoder>(*std::move(stream));
  runtime_->GetProducer(producer_.stream, producer_.id,
                        [self = shared_from_this()](
                            const absl::StatusOr<engine::ProducerInfo>& info) {
                          self->OnProducer(info);
                        });
}

void AppendStreamReactor::OnProducer(
    const absl::StatusOr<engine::ProducerInfo>& producer) {
  if (!producer.ok()) return Finish(producer.status());
  if (absl::Status status = CheckEpoch(*producer, epoch_); !status.ok()) {
    return Finish(status);
  }
  std::lock_guard lock(mutex_);
  batches_.Open(producer->last_sequence, options_.fates);
  opened_unsaid_ = true;
  reading_ = false;
  Proceed();
}

void AppendStreamReactor::HandleBatch(const v1::Batch& batch) {
  if (batch.sequence() < 1) {
    // There is no place to send it right at, so the call ends.
    return Finish(engine::InvalidField("batch.sequence", "must be 1 or more"));
  }
  std::optional<uint64_t> ticket;
  {
    std::lock_guard lock(mutex_);
    if (finished_ || draining_) return;
    ticket = batches_.Take(batch.sequence());
  }
  if (ticket.has_value()) {
    engine::BatchRecord record;
    absl::Status status = decoder_->Decode(batch, &record);
    if (status.ok()) {
      record.producer = producer_.id;
      record.epoch = epoch_;
      engine::SetDigest(&record);
      runtime_->Append(producer_.stream, std::move(record), options_,
                       [self = shared_from_this(), ticket = *ticket](
                           absl::StatusOr<runtime::AppendResult> result) {
                         self->OnAppended(ticket, std::move(result));
                       });
    } else {
      OnAppended(*ticket, std::move(status));
    }
  }
  // A message that is kept costs less than a new one, but memory each.
  if (services_->is_crowded()) request_ = v1::AppendStreamRequest();
  // Only now, so that batches reach the runtime in the order of reading.
  ReadOn();
}

void AppendStreamReactor::HandleClose(
    const v1::AppendStreamRequest::Close& close) {
  if (close.last_sequence() < 0) {
    return Finish(
        engine::InvalidField("close.last_sequence", "must not be negative"));
  }
  std::lock_guard lock(mutex_);
  reading_ = false;
  close_ = close.last_sequence();
  Proceed();
}

void AppendStreamReactor::ReadOn() {
  std::lock_guard lock(mutex_);
  reading_ = false;
  Proceed();
}

void AppendStreamReactor::OnAppended(
    uint64_t ticket, absl::StatusOr<runtime::AppendResult> result) {
  std::lock_guard lock(mutex_);
  batches_.Answer(ticket, std::move(result));
  Proceed();
}

void AppendStreamReactor::Finish(const absl::Status& status) {
  std::lock_guard lock(mutex_);
  FinishLocked(status);
}

void AppendStreamReactor::Proceed() {
  if (finished_) return;
  if (!writing_) Write();
  FinishIfOver();
  const bool more = !finished_ && !reading_ && !read_ended_ && !draining_ &&
                    !close_.has_value() && batches_.fatal().ok() &&
                    batches_.unacknowledged() < kMaxInFlightBatches;
  if (more) {
    reading_ = true;
    StartRead(&request_);
  }
}

void AppendStreamReactor::Write() {
  if (opened_unsaid_) {
    opened_unsaid_ = false;
    response_.Clear();
    response_.mutable_opened()->set_last_sequence(batches_.committed());
    SetLimits(response_.mutable_opened()->mutable_limits());
  } else if (!batches_.Compose(&response_)) {
    return;
  }
  writing_ = true;
  StartWrite(&response_);
}

void AppendStreamReactor::FinishIfOver() {
  if (writing_ || !batches_.idle()) return;
  const int64_t committed = batches_.committed();
  if (!batches_.fatal().ok()) {
    FinishLocked(batches_.fatal());
  } else if (close_.has_value()) {
    const bool complete = !batches_.blocked() && committed >= *close_;
    FinishLocked(complete ? absl::OkStatus()
                          : NotClosed(absl::StrCat("closed at sequence ",
                                                   *close_, ", but only ",
                                                   committed, " is durable"),
                                      committed));
  } else if (draining_) {
    FinishLocked(DrainingError());
  } else if (read_ended_) {
    FinishLocked(NotClosed("the requests ended without `close`", committed));
  }
}

void AppendStreamReactor::FinishLocked(const absl::Status& status) {
  if (finished_) return;
  finished_ = true;
  ServerBidiReactor::Finish(ToGrpcStatus(status));
}

}  // namespace casement::rpc
