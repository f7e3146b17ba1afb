#include "client/append_call.h"

#include "client/status.h"

namespace casement::client {

AppendCall::AppendCall(v1::IngestService::StubInterface& stub)
    : stream_(stub.AppendStream(&context_)) {}

absl::StatusOr<int64_t> AppendCall::Open(const std::string& producer,
                                         int64_t epoch,
                                         v1::Durability durability,
                                         v1::Report report) {
  v1::AppendStreamRequest request;
  v1::AppendStreamRequest::Open& open = *request.mutable_open();
  open.set_producer(producer);
  open.set_epoch(epoch);
  open.set_durability(durability);
  open.set_report(report);
  v1::AppendStreamResponse response;
  if (!stream_->Write(request) || !stream_->Read(&response)) {
    const absl::Status status = FromGrpcStatus(stream_->Finish());
    if (!status.ok()) return status;
    return absl::UnavailableError("the server ended the call unopened");
  }
  if (!response.has_opened()) {
    Cancel();
    stream_->Finish();
    return absl::InternalError("the server's first answer opens nothing");
  }
  return response.opened().last_sequence();
}

bool AppendCall::Write(const v1::AppendStreamRequest& request) {
  return stream_->Write(request);
}

bool AppendCall::Read(v1::AppendStreamResponse* response) {
  return stream_->Read(response);
}

void AppendCall::Close(int64_t last_sequence) {
  v1::AppendStreamRequest request;
  request.mutable_close()->set_last_sequence(last_sequence);
  // If it can't be written the call is broken, which Finish tells.
  closed_ = stream_->Write(request) && stream_->WritesDone();
}

void AppendCall::Cancel() { context_.TryCancel(); }

absl::Status AppendCall::Finish() {
  const absl::Status status = FromGrpcStatus(stream_->Finish());
  if (status.ok() && !closed_) {
    return absl::UnavailableError("the server ended the call before its close");
  }
  return status;
}

}  // namespace casement::client
