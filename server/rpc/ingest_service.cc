#include "server/rpc/ingest_service.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "server/engine/error.h"
#include "server/rpc/ack_conversion.h"
#include "server/rpc/append_stream_reactor.h"
#include "server/rpc/batch_decoder.h"
#include "server/rpc/limits.h"
#include "server/rpc/names.h"
#include "server/rpc/time_conversion.h"
#include "server/rpc/unary_call.h"

namespace casement::rpc {

using runtime::Runtime;

grpc::ServerUnaryReactor* IngestService::OpenProducer(
    grpc::CallbackServerContext* context,
    const v1::OpenProducerRequest* request,
    v1::OpenProducerResponse* response) {
  UnaryCall call(context, &services_->calls());
  const absl::StatusOr<Runtime*> runtime = services_->Enter();
  if (!runtime.ok()) return call.Fail(runtime.status());
  absl::StatusOr<std::string> stream =
      ParseStreamName("stream", request->stream());
  if (!stream.ok()) return call.Fail(stream.status());
  if (!engine::IsValidId(request->producer_id())) {
    return call.Fail(engine::InvalidField("producer_id", kIdRule));
  }
  std::optional<int64_t> expected_epoch;
  if (request->has_expected_epoch()) {
    if (request->expected_epoch() < 0) {
      return call.Fail(
          engine::InvalidField("expected_epoch", "must not be negative"));
    }
    expected_epoch = request->expected_epoch();
  }
  (*runtime)->OpenProducer(
      *stream, request->producer_id(), expected_epoch,
      call.Answer<runtime::OpenedProducer>(
          [response, name = ProducerName(*stream, request->producer_id())](
              const runtime::OpenedProducer& opened) {
            response->set_name(name);
            response->set_epoch(opened.epoch);
            response->set_last_sequence(opened.last_sequence);
            if (opened.watermark != engine::kNoWatermark) {
              *response->mutable_watermark_time() =
                  ToTimestamp(opened.watermark);
            }
            SetLimits(response->mutable_limits());
            response->set_source_position(opened.source_position);
          }));
  return call.reactor();
}

grpc::ServerUnaryReactor* IngestService::AppendBatch(
    grpc::CallbackServerContext* context, const v1::AppendBatchRequest* request,
    v1::AppendBatchResponse* response) {
  UnaryCall call(context, &services_->calls());
  const absl::StatusOr<Runtime*> runtime = services_->Enter();
  if (!runtime.ok()) return call.Fail(runtime.status());
  absl::StatusOr<ChildName> producer =
      ParseProducerName("producer", request->producer());
  if (!producer.ok()) return call.Fail(producer.status());
  if (request->epoch() < 1) {
    return call.Fail(engine::InvalidField("epoch", "must be 1 or more"));
  }
  if (!request->has_batch()) {
    return call.Fail(engine::InvalidField("batch", "is required"));
  }
  const absl::StatusOr<runtime::AppendOptions> options =
      ToAppendOptions("", request->durability(), request->report());
  if (!options.ok()) return call.Fail(options.status());
  const absl::StatusOr<std::shared_ptr<const engine::StreamSpec>> spec =
      (*runtime)->FindStreamSpec(producer->stream);
  if (!spec.ok()) return call.Fail(spec.status());
  engine::BatchRecord record;
  if (absl::Status status =
          BatchDecoder(*spec).Decode(request->batch(), &record);
      !status.ok()) {
    return call.Fail(status);
  }
  record.producer = producer->id;
  record.epoch = request->epoch();
  engine::SetDigest(&record);
  (*runtime)->Append(producer->stream, std::move(record), *options,
                     call.Answer<runtime::AppendResult>(
                         [response, fates = options->fates](
                             const runtime::AppendResult& result) {
                           SetBatchAck(result, fates, response->mutable_ack());
                         }));
  return call.reactor();
}

grpc::ServerBidiReactor<v1::AppendStreamRequest, v1::AppendStreamResponse>*
IngestService::AppendStream(grpc::CallbackServerContext* /*context*/) {
  return AppendStreamReactor::Start(services_);
}

grpc::ServerUnaryReactor* IngestService::GetProducer(
    grpc::CallbackServerContext* context, const v1::GetProducerRequest* request,
    v1::Producer* response) {
  UnaryCall call(context, &services_->calls());
  const absl::StatusOr<Runtime*> runtime = services_->Enter();
  if (!runtime.ok()) return call.Fail(runtime.status());
  const absl::StatusOr<ChildName> name =
      ParseProducerName("name", request->name());
  if (!name.ok()) return call.Fail(name.status());
  (*runtime)->GetProducer(
      name->stream, name->id,
      call.Answer<engine::ProducerInfo>(
          [response, stream = name->stream](const engine::ProducerInfo& info) {
            SetProducer(stream, info, response);
          }));
  return call.reactor();
}

}  // namespace casement::rpc
