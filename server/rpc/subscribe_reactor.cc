#include "server/rpc/subscribe_reactor.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/engine/error.h"
#include "server/rpc/names.h"
#include "server/rpc/result_conversion.h"
#include "server/rpc/status_conversion.h"
#include "server/rpc/time_conversion.h"
#include "server/rpc/view_conversion.h"

namespace casement::rpc {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kDefaultHeartbeat(10'000);
constexpr int64_t kLeastHeartbeatUs = 100'000;
constexpr int64_t kMostHeartbeatUs = 3'600'000'000;
constexpr int32_t kDefaultResponseBytes = 256 << 10;
constexpr int32_t kLeastResponseBytes = 1 << 10;
constexpr int32_t kMostResponseBytes = 1 << 20;

// A stored result is smaller than its proto, which spells out names and times;
// so many times at most.
constexpr size_t kProtoBytesPerStored = 8;

// A response is there as a message and as the bytes that wait to be sent.
constexpr int64_t kCopies = 2;

absl::StatusOr<steady_clock::duration> ToHeartbeat(
    const v1::SubscribeRequest& request) {
  if (!request.has_heartbeat_interval()) return kDefaultHeartbeat;
  const absl::StatusOr<int64_t> us = ToDurationUs(request.heartbeat_interval());
  if (!us.ok()) {
    return engine::InvalidField("heartbeat_interval", us.status().message());
  }
  if (*us < kLeastHeartbeatUs) {
    return engine::InvalidField("heartbeat_interval",
                                "must be at least 100 ms");
  }
  // More often than asked for is no harm.
  return std::chrono::microseconds(std::min(*us, kMostHeartbeatUs));
}

absl::StatusOr<size_t> ToResponseBytes(int32_t asked) {
  if (asked == 0) return kDefaultResponseBytes;
  if (asked < kLeastResponseBytes) {
    return engine::InvalidField("max_response_bytes", "must be at least 1024");
  }
  return std::min(asked, kMostResponseBytes);
}

absl::StatusOr<runtime::LogStart> ToLogStart(
    const v1::SubscribeRequest& request, std::optional<Cursor>* cursor) {
  runtime::LogStart start;
  switch (request.start_case()) {
    case v1::SubscribeRequest::kCursor: {
      const absl::StatusOr<Cursor> decoded = DecodeCursor(request.cursor());
      if (!decoded.ok()) return decoded.status();
      *cursor = *decoded;
      start.kind = runtime::LogStart::Kind::kAfter;
      start.after = decoded->position;
      return start;
    }
    case v1::SubscribeRequest::kPosition:
      if (!v1::Position_IsValid(request.position())) {
        return engine::InvalidField("position",
                                    "is not a value that this server knows");
      }
      if (request.position() == v1::POSITION_OLDEST) {
        start.kind = runtime::LogStart::Kind::kOldest;
      }
      return start;
    case v1::SubscribeRequest::START_NOT_SET:
      return start;
  }
  return start;
}

}  // namespace

SubscribeReactor* SubscribeReactor::Start(ServiceContext* services,
                                          const v1::SubscribeRequest& request) {
  std::shared_ptr<SubscribeReactor> reactor(new SubscribeReactor);
  reactor->self_ = reactor;
  if (absl::Status status = reactor->Open(services, request); !status.ok()) {
    std::lock_guard lock(reactor->mutex_);
    reactor->FinishLocked(status);
  }
  return reactor.get();
}

absl::Status SubscribeReactor::Open(ServiceContext* services,
                                    const v1::SubscribeRequest& request) {
  const absl::StatusOr<runtime::Runtime*> runtime = services->Enter();
  if (!runtime.ok()) return runtime.status();
  const absl::StatusOr<ChildName> name = ParseViewName("view", request.view());
  if (!name.ok()) return name.status();
  services_ = services;
  view_ = request.view();
  const absl::StatusOr<steady_clock::duration> heartbeat = ToHeartbeat(request);
  if (!heartbeat.ok()) return heartbeat.status();
  heartbeat_ = *heartbeat;
  const absl::StatusOr<size_t> bytes =
      ToResponseBytes(request.max_response_bytes());
  if (!bytes.ok()) return bytes.status();
  max_response_bytes_ = *bytes;
  const absl::StatusOr<runtime::FinalityFilter> filter =
      ToFinalityFilter(request.finalities());
  if (!filter.ok()) return filter.status();
  const absl::StatusOr<runtime::LogStart> start =
      ToLogStart(request, &start_cursor_);
  if (!start.ok()) return start.status();
  absl::StatusOr<MemoryReservation> memory = services->ReserveForSubscriber(
      static_cast<int64_t>(max_response_bytes_) * kCopies);
  if (!memory.ok()) return memory.status();
  memory_ = *std::move(memory);
  registration_ = services->calls().Add(shared_from_this());
  (*runtime)->OpenLog(
      name->stream, name->id, *start, *filter,
      [self = shared_from_this()](
          absl::StatusOr<std::shared_ptr<runtime::LogReader>> reader) {
        self->OnOpened(std::move(reader));
      });
  return absl::OkStatus();
}

void SubscribeReactor::OnOpened(
    absl::StatusOr<std::shared_ptr<runtime::LogReader>> reader) {
  std::lock_guard lock(mutex_);
  if (finished_) return;
  if (!reader.ok()) return FinishLocked(reader.status());
  const runtime::LogIdentity& log = (*reader)->identity();
  if (start_cursor_.has_value()) {
    if (absl::Status status = CheckCursor(*start_cursor_, log); !status.ok()) {
      return FinishLocked(status);
    }
  }
  reader_ = *std::move(reader);
  const runtime::LogPosition position = reader_->position();
  cursor_ = EncodeCursor(log, position);
  // The version of the position may go on behind it.
  served_version_ = std::max<engine::Version>(0, position.version - 1);
  progress_.version = served_version_;
  head_progress_ = reader_->head_progress();
  allowed_lateness_us_ = reader_->view().spec.allowed_lateness_us;
  response_.Clear();
  response_.mutable_opened()->set_revision(kRevision);
  SetProgress(head_progress_, allowed_lateness_us_,
              response_.mutable_opened()->mutable_head_progress());
  WriteResponse();
  SetAlarm(heartbeat_);
}

void SubscribeReactor::OnWriteDone(bool ok) {
  std::unique_lock lock(mutex_);
  if (finished_) return;
  if (!ok) return FinishLocked(absl::CancelledError("the client is gone"));
  if (draining_) return FinishLocked(DrainingError(cursor_));
  if (caught_up_ && !synced_said_) return WriteSynced();
  Read(std::move(lock));
}

void SubscribeReactor::Read(std::unique_lock<std::mutex> lock) {
  state_ = State::kReading;
  const std::shared_ptr<runtime::LogReader> reader = reader_;
  lock.unlock();
  reader->Next(
      max_response_bytes_ / kProtoBytesPerStored,
      [self = shared_from_this()](absl::StatusOr<runtime::LogChunk> chunk) {
        self->OnChunk(std::move(chunk));
      });
}

void SubscribeReactor::OnChunk(absl::StatusOr<runtime::LogChunk> chunk) {
  std::unique_lock lock(mutex_);
  if (finished_) return;
  if (!chunk.ok()) return FinishLocked(chunk.status());
  if (draining_) return FinishLocked(DrainingError(cursor_));
  const engine::Version served_before = served_version_;
  if (absl::Status status = TakeChunk(*chunk); !status.ok()) {
    return FinishLocked(status);
  }
  if (!chunk->results.empty()) return WriteResponse();
  if (caught_up_ && !synced_said_) return WriteSynced();
  if (served_version_ > served_before || heartbeat_due_) {
    return WriteHeartbeat();
  }
  if (!caught_up_) return Read(std::move(lock));
  WaitForNews(std::move(lock));
}

absl::Status SubscribeReactor::TakeChunk(const runtime::LogChunk& chunk) {
  response_.Clear();
  for (const engine::Result& result : chunk.results) {
    if (absl::Status status = SetWindowResult(
            view_, result, response_.mutable_results()->add_results());
        !status.ok()) {
      return status;
    }
  }
  if (!chunk.results.empty()) {
    response_.mutable_results()->set_partial_version(chunk.partial_version);
  }
  cursor_ = EncodeCursor(reader_->identity(), chunk.position);
  served_version_ = std::max(served_version_, chunk.served_version);
  caught_up_ = chunk.caught_up;
  // What is still behind must not be told as seen, so progress waits for it.
  if (chunk.caught_up) {
    progress_ = chunk.progress;
  } else {
    progress_.version = served_version_;
  }
  head_progress_ = chunk.head_progress;
  return absl::OkStatus();
}

void SubscribeReactor::WaitForNews(std::unique_lock<std::mutex> lock) {
  state_ = State::kIdle;
  if (services_->is_crowded()) response_ = v1::SubscribeResponse();
  const std::shared_ptr<runtime::LogReader> reader = reader_;
  lock.unlock();
  reader->WakeOnNews([weak = weak_from_this()] {
    if (const std::shared_ptr<SubscribeReactor> self = weak.lock()) {
      self->OnNews();
    }
  });
}

void SubscribeReactor::OnNews() {
  std::unique_lock lock(mutex_);
  // While a heartbeat is being written the next read comes anyway.
  if (finished_ || state_ != State::kIdle) return;
  Read(std::move(lock));
}

void SubscribeReactor::OnAlarm() {
  std::lock_guard lock(mutex_);
  if (finished_) return;
  const steady_clock::duration quiet = steady_clock::now() - last_write_;
  if (quiet < heartbeat_) return SetAlarm(heartbeat_ - quiet);
  if (state_ == State::kIdle) {
    WriteHeartbeat();
  } else {
    heartbeat_due_ = true;  // unless something is written by then
  }
  SetAlarm(heartbeat_);
}

void SubscribeReactor::WriteSynced() {
  synced_said_ = true;
  response_.Clear();
  SetProgress(progress_, allowed_lateness_us_,
              response_.mutable_synced()->mutable_progress());
  WriteResponse();
}

void SubscribeReactor::WriteHeartbeat() {
  response_.Clear();
  v1::SubscribeResponse::Heartbeat* heartbeat = response_.mutable_heartbeat();
  SetProgress(progress_, allowed_lateness_us_, heartbeat->mutable_progress());
  SetProgress(head_progress_, allowed_lateness_us_,
              heartbeat->mutable_head_progress());
  *heartbeat->mutable_server_time() = ToTimestamp(WallClockUs());
  WriteResponse();
}

void SubscribeReactor::WriteResponse() {
  response_.set_cursor(cursor_);
  response_.set_served_version(served_version_);
  state_ = State::kWriting;
  last_write_ = steady_clock::now();
  heartbeat_due_ = false;
  StartWrite(&response_);
}

void SubscribeReactor::SetAlarm(steady_clock::duration delay) {
  const auto us =
      std::chrono::duration_cast<std::chrono::microseconds>(delay).count();
  // One alarm a shot: setting an alarm anew from its own callback would pull
  // the callback from under its feet.
  alarm_ = std::make_unique<grpc::Alarm>();
  alarm_->Set(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                           gpr_time_from_micros(us + 1, GPR_TIMESPAN)),
              [weak = weak_from_this()](bool fired) {
                if (!fired) return;
                if (const auto self = weak.lock()) self->OnAlarm();
              });
}

void SubscribeReactor::OnCancel() {
  std::lock_guard lock(mutex_);
  FinishLocked(absl::CancelledError("the call was cancelled"));
}

void SubscribeReactor::Drain() {
  std::lock_guard lock(mutex_);
  draining_ = true;
  // A write or a read under way comes to its end first.
  if (state_ == State::kIdle || state_ == State::kOpening) {
    FinishLocked(DrainingError(cursor_));
  }
}

void SubscribeReactor::OnDone() {
  const std::shared_ptr<SubscribeReactor> self = std::move(self_);
  registration_ = CallRegistry::Registration();
  memory_ = MemoryReservation();
  // A wake that still runs would otherwise be the last to hold the reader.
  if (reader_ != nullptr) reader_->WakeOnNews(nullptr);
}

void SubscribeReactor::FinishLocked(const absl::Status& status) {
  if (finished_) return;
  finished_ = true;
  alarm_.reset();
  Finish(ToGrpcStatus(status));
}

}  // namespace casement::rpc
