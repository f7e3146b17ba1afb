#include "client/subscriber.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/names.h"
#include "client/status.h"

namespace casement::client {
namespace {

google::protobuf::Duration ToDuration(absl::Duration duration) {
  google::protobuf::Duration proto;
  absl::Duration rest;
  proto.set_seconds(absl::IDivDuration(duration, absl::Seconds(1), &rest));
  proto.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(rest)));
  return proto;
}

}  // namespace

Subscriber::Subscriber(std::shared_ptr<grpc::Channel> channel,
                       SubscriberOptions options)
    : options_(std::move(options)),
      stub_(v1::ResultService::NewStub(channel)),
      cursor_(options_.cursor) {}

void Subscriber::Stop() {
  std::lock_guard<std::mutex> lock(mutex_);
  stopped_ = true;
  if (context_ != nullptr) context_->TryCancel();
  changed_.notify_all();
}

v1::SubscribeRequest Subscriber::Request(const std::string& view) const {
  v1::SubscribeRequest request;
  request.set_view(view);
  if (!cursor_.empty()) {
    request.set_cursor(cursor_);
  } else {
    request.set_position(options_.position);
  }
  for (const v1::Finality finality : options_.finalities) {
    request.add_finalities(finality);
  }
  if (options_.heartbeat_interval) {
    *request.mutable_heartbeat_interval() =
        ToDuration(*options_.heartbeat_interval);
  }
  request.set_max_response_bytes(options_.max_response_bytes);
  return request;
}

absl::Status Subscriber::RunOnce(const std::string& view,
                                 const Callback& callback) {
  grpc::ClientContext context;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (stopped_) return absl::OkStatus();
    context_ = &context;
  }
  const auto reader = stub_->Subscribe(&context, Request(view));
  v1::SubscribeResponse response;
  bool wanted = true;
  while (wanted && reader->Read(&response)) {
    progress_ = true;
    if (std::exchange(broken_, false) && options_.on_connection) {
      options_.on_connection(absl::OkStatus());
    }
    wanted = callback(response);
    cursor_ = response.cursor();
  }
  if (!wanted) context.TryCancel();
  const absl::Status status = FromGrpcStatus(reader->Finish());
  std::lock_guard<std::mutex> lock(mutex_);
  context_ = nullptr;
  if (!wanted || stopped_) return absl::OkStatus();
  // A subscription has no end of its own.
  if (status.ok()) return absl::UnavailableError("the server ended the call");
  return status;
}

absl::Status Subscriber::Run(const Callback& callback) {
  const absl::StatusOr<std::string> view = ViewName(options_.view);
  if (!view.ok()) return view.status();
  Backoff backoff(options_.backoff);
  absl::Time last_progress = absl::Now();
  while (true) {
    progress_ = false;
    const absl::Status status = RunOnce(*view, callback);
    if (status.ok() || !IsTransient(status)) return status;
    if (progress_) {
      last_progress = absl::Now();
      backoff.Reset();
    }
    if (absl::Now() - last_progress > options_.give_up_after) {
      return absl::Status(
          status.code(),
          absl::StrCat("gave up after ",
                       absl::FormatDuration(options_.give_up_after), ": ",
                       status.message()));
    }
    ++breaks_;
    broken_ = true;
    if (options_.on_connection) options_.on_connection(status);
    const absl::Duration asked =
        GetErrorDetails(status).retry_delay.value_or(absl::ZeroDuration());
    const absl::Duration wait = std::max(asked, backoff.Next());
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, absl::ToChronoNanoseconds(wait),
                      [this] { return stopped_; });
    if (stopped_) return absl::OkStatus();
  }
}

}  // namespace casement::client
