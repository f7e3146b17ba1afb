#include "client/producer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "casement/v1/definition.grpc.pb.h"
#include "client/names.h"
#include "client/open_producer.h"
#include "client/producer_impl.h"
#include "client/status.h"

namespace casement::client {
namespace {

// For a server that tells no limits.
constexpr int kDefaultInFlight = 16;

// The least of those that are set.
int64_t Least(int64_t a, int64_t b) {
  if (a <= 0 || b <= 0) return std::max(a, b);
  return std::min(a, b);
}

int InFlight(int wanted, int told) {
  const auto least = static_cast<int>(Least(wanted, told));
  return least > 0 ? least : kDefaultInFlight;
}

BatchLimits Limits(int max_batch_events, const v1::IngestLimits& told) {
  BatchLimits limits;
  limits.events = Least(max_batch_events, told.max_batch_events());
  if (limits.events <= 0) limits.events = BatchLimits().events;
  limits.column_bytes = Least(limits.column_bytes, told.max_batch_bytes());
  limits.row_bytes = Least(limits.row_bytes, told.max_row_batch_bytes());
  return limits;
}

bool SaysNothing(const v1::Batch& batch) {
  return batch.events_case() == v1::Batch::EVENTS_NOT_SET &&
         !batch.has_watermark_time() &&
         batch.source_state() == v1::SOURCE_STATE_UNSPECIFIED;
}

absl::StatusOr<v1::Stream> GetStream(
    const std::shared_ptr<grpc::Channel>& channel, const std::string& name,
    absl::Time deadline, const BackoffOptions& backoff_options) {
  const auto stub = v1::DefinitionService::NewStub(channel);
  Backoff backoff(backoff_options);
  while (true) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(deadline));
    v1::GetStreamRequest request;
    request.set_name(name);
    v1::Stream stream;
    const absl::Status status =
        FromGrpcStatus(stub->GetStream(&context, request, &stream));
    if (status.ok()) return stream;
    const absl::Duration wait = backoff.Next();
    if (!IsTransient(status) || absl::Now() + wait > deadline) return status;
    absl::SleepFor(wait);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Producer>> Producer::Open(
    std::shared_ptr<grpc::Channel> channel, ProducerOptions options) {
  absl::StatusOr<std::string> name = StreamName(options.stream);
  if (!name.ok()) return name.status();
  const absl::Time deadline = absl::Now() + options.open_timeout;
  absl::StatusOr<v1::Stream> stream =
      GetStream(channel, *name, deadline, options.backoff);
  if (!stream.ok()) return stream.status();
  v1::OpenProducerRequest request;
  request.set_stream(*name);
  request.set_producer_id(options.producer_id);
  if (options.expected_epoch) {
    request.set_expected_epoch(*options.expected_epoch);
  }
  auto stub = v1::IngestService::NewStub(channel);
  absl::StatusOr<v1::OpenProducerResponse> opened =
      OpenProducer(*stub, request, deadline, options.backoff);
  if (!opened.ok()) return opened.status();
  return std::unique_ptr<Producer>(new Producer(
      std::make_unique<Impl>(std::move(stub), std::move(options),
                             *std::move(stream), *std::move(opened))));
}

Producer::Producer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Producer::~Producer() = default;

const std::string& Producer::name() const { return impl_->opened().name(); }
int64_t Producer::epoch() const { return impl_->opened().epoch(); }
const std::string& Producer::resumed_position() const {
  return impl_->opened().source_position();
}
int64_t Producer::resumed_sequence() const {
  return impl_->opened().last_sequence();
}
const v1::Stream& Producer::stream() const { return impl_->stream(); }

absl::Status Producer::Add(const Event& event, absl::string_view position) {
  return impl_->Add(event, position);
}
absl::Status Producer::Send(v1::Batch batch) {
  return impl_->Send(std::move(batch));
}
absl::Status Producer::AssertWatermark(absl::Time time) {
  v1::Batch batch;
  *batch.mutable_watermark_time() = ToTimestamp(time);
  return impl_->Send(std::move(batch));
}
absl::Status Producer::SetState(v1::SourceState state) {
  v1::Batch batch;
  batch.set_source_state(state);
  return impl_->Send(std::move(batch));
}
absl::Status Producer::Flush() { return impl_->Flush(); }
absl::Status Producer::Close() { return impl_->Close(); }
ProducerTotals Producer::totals() const { return impl_->totals(); }
absl::Status Producer::status() const { return impl_->status(); }

Producer::Impl::Impl(std::unique_ptr<v1::IngestService::StubInterface> stub,
                     ProducerOptions options, v1::Stream stream,
                     v1::OpenProducerResponse opened)
    : options_(std::move(options)),
      stream_(std::move(stream)),
      opened_(std::move(opened)),
      stub_(std::move(stub)),
      in_flight_(InFlight(options_.max_in_flight_batches,
                          opened_.limits().max_in_flight_batches())),
      builder_(stream_.fields(), options_.form,
               Limits(options_.max_batch_events, opened_.limits())),
      queue_(opened_.last_sequence()),
      reported_(opened_.last_sequence()) {
  thread_ = std::thread([this] { Run(); });
}

Producer::Impl::~Impl() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    if (call_ != nullptr) call_->Cancel();
    changed_.notify_all();
  }
  thread_.join();
}

absl::Status Producer::Impl::CheckOpen() const {
  if (!error_.ok()) return error_;
  if (closing_) return absl::FailedPreconditionError("the producer is closed");
  return absl::OkStatus();
}

bool Producer::Impl::WaitForRoom(std::unique_lock<std::mutex>& lock) {
  if (HasRoom()) return true;
  changed_.wait(lock, [this] { return HasRoom() || !error_.ok() || closing_; });
  return false;
}

absl::Status Producer::Impl::Add(const Event& event,
                                 absl::string_view position) {
  std::unique_lock<std::mutex> lock(mutex_);
  // Another thread can fill the next batch too while this one waits.
  while (true) {
    if (absl::Status status = CheckOpen(); !status.ok()) return status;
    const absl::StatusOr<bool> needs_cut = builder_.NeedsCut(event);
    if (!needs_cut.ok()) return needs_cut.status();
    if (!*needs_cut) break;
    if (WaitForRoom(lock)) Cut();
  }
  if (builder_.events() == 0) StartLinger();
  builder_.Add(event, position);
  // A full batch goes at once if there is room; else the next Add waits.
  if (builder_.full() && HasRoom()) Cut();
  return absl::OkStatus();
}

absl::Status Producer::Impl::Send(v1::Batch batch) {
  if (SaysNothing(batch)) {
    return absl::InvalidArgumentError(
        "a batch needs events, a watermark or a state");
  }
  const bool only_statement = batch.events_case() == v1::Batch::EVENTS_NOT_SET;
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    if (absl::Status status = CheckOpen(); !status.ok()) return status;
    if (!WaitForRoom(lock)) continue;
    // A statement about time rides in the batch of the events before it.
    if (builder_.events() == 0 || only_statement) break;
    Cut();
  }
  BuiltBatch built = builder_.Take();
  if (batch.has_rows()) built.events = batch.rows().events_size();
  if (batch.has_columns()) built.events = batch.columns().row_count();
  built.batch.MergeFrom(batch);
  Push(std::move(built));
  return absl::OkStatus();
}

void Producer::Impl::StartLinger() {
  if (options_.linger == absl::InfiniteDuration()) return;
  linger_until_ = absl::Now() + options_.linger;
  changed_.notify_all();  // The sending thread looks until when to wait.
}

void Producer::Impl::Cut() { Push(builder_.Take()); }

void Producer::Impl::Push(BuiltBatch batch) {
  if (queue_.empty()) stuck_since_ = absl::Now();
  queue_.Push(std::move(batch));
  linger_until_ = absl::InfiniteFuture();
  changed_.notify_all();
}

absl::Status Producer::Impl::Flush() {
  std::unique_lock<std::mutex> lock(mutex_);
  return FlushLocked(lock);
}

absl::Status Producer::Impl::FlushLocked(std::unique_lock<std::mutex>& lock) {
  while (true) {
    if (absl::Status status = CheckOpen(); !status.ok()) return status;
    if (builder_.events() == 0) break;
    if (WaitForRoom(lock)) Cut();
  }
  const int64_t through = queue_.last_assigned();
  // A refused batch that is left out moves the numbers down, so `through` may
  // never come; then the queue runs empty.
  changed_.wait(lock, [this, through] {
    return reported_ >= through ||
           (queue_.empty() && reported_ == queue_.last_acked()) || !error_.ok();
  });
  return error_;
}

absl::Status Producer::Impl::Close() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (closed_) return absl::OkStatus();
  if (absl::Status status = FlushLocked(lock); !status.ok()) return status;
  closing_ = true;
  stuck_since_ = absl::Now();
  // Without a call there is nothing to end: all that was sent is durable.
  if (call_ == nullptr) closed_ = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return closed_ || !error_.ok(); });
  return error_;
}

ProducerTotals Producer::Impl::totals() const {
  std::lock_guard<std::mutex> lock(mutex_);
  ProducerTotals totals = totals_;
  totals.pending_events = queue_.events() + builder_.events();
  return totals;
}

absl::Status Producer::Impl::status() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return error_;
}

void Producer::Impl::Fail(absl::Status status) {
  if (error_.ok()) error_ = std::move(status);
  changed_.notify_all();
}

void Producer::Impl::Count(const BatchReport& report) {
  ++totals_.batches;
  totals_.received_events += report.events;
  totals_.accepted_events += report.ack.accepted_events();
  totals_.late_events += report.ack.late_events();
  totals_.rejected_events += report.ack.rejects().rejected_events();
  totals_.duplicate_events += report.ack.duplicate_events();
  if (report.ack.duplicate()) ++totals_.duplicate_batches;
}

}  // namespace casement::client
