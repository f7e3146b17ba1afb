#include "server/rpc/in_flight_batches.h"

#include <algorithm>
#include <utility>

#include "server/engine/error.h"
#include "server/rpc/ack_conversion.h"
#include "server/rpc/status_conversion.h"
#include "server/rpc/time_conversion.h"

namespace casement::rpc {
namespace {

// A response with many details ends at about this size.
constexpr size_t kResponseBytes = 512 << 10;

// Whether sending other bytes, or the same later, can't help.
bool IsFatal(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kResourceExhausted:
      return false;
    case absl::StatusCode::kUnavailable: {
      const auto detail = engine::GetErrorDetail(status);
      return !detail.has_value() || detail->reason == engine::kDraining;
    }
    default:
      return true;
  }
}

}  // namespace

void InFlightBatches::Open(int64_t committed, bool fates) {
  committed_ = committed;
  fates_ = fates;
}

std::optional<uint64_t> InFlightBatches::Take(int64_t sequence) {
  if (!fatal_.ok()) return std::nullopt;
  if (blocked_at_.has_value()) {
    // Those after the failed one were sent before its failure was known.
    if (sequence > *blocked_at_) return std::nullopt;
    blocked_at_.reset();
    ++generation_;
  }
  batches_.push_back({sequence, generation_, std::nullopt});
  return first_ticket_ + batches_.size() - 1;
}

void InFlightBatches::Answer(uint64_t ticket,
                             absl::StatusOr<runtime::AppendResult> answer) {
  batches_[ticket - first_ticket_].answer = std::move(answer);
  while (!batches_.empty() && batches_.front().answer.has_value()) {
    const Batch batch = std::move(batches_.front());
    batches_.pop_front();
    ++first_ticket_;
    Settle(batch);
  }
}

void InFlightBatches::Settle(const Batch& batch) {
  const bool dropped = batch.generation != generation_ ||
                       blocked_at_.has_value() || !fatal_.ok();
  if (dropped) return;
  if (!batch.answer->ok()) return Fail(batch.sequence, batch.answer->status());
  const runtime::AppendResult& result = **batch.answer;
  committed_ = std::max(committed_, batch.sequence);
  if (result.ack.version >= version_) {
    version_ = result.ack.version;
    progress_ = result.ack.progress;
  }
  Ack ack{committed_, version_, progress_, nullptr};
  if (IsNotable(result)) {
    ack.notable = std::make_unique<v1::BatchAck>();
    SetBatchAck(result, fates_, ack.notable.get());
  }
  outgoing_.push_back(std::move(ack));
}

void InFlightBatches::Fail(int64_t sequence, const absl::Status& status) {
  if (IsFatal(status)) {
    fatal_ = status;
    return;
  }
  blocked_at_ = sequence;
  v1::AppendStreamResponse::Failed failed;
  failed.set_sequence(sequence);
  *failed.mutable_status() = ToRpcStatus(status);
  const auto detail = engine::GetErrorDetail(status);
  if (detail.has_value() && detail->retry_delay_us.has_value()) {
    *failed.mutable_retry_delay() = ToDuration(*detail->retry_delay_us);
  }
  outgoing_.push_back(std::move(failed));
}

bool InFlightBatches::Compose(v1::AppendStreamResponse* response) {
  if (outgoing_.empty()) return false;
  response->Clear();
  if (auto* failed =
          std::get_if<v1::AppendStreamResponse::Failed>(&outgoing_.front())) {
    *response->mutable_failed() = std::move(*failed);
    outgoing_.pop_front();
    being_written_ = 1;
    return true;
  }
  v1::AppendStreamResponse::Committed* committed =
      response->mutable_committed();
  size_t bytes = 0;
  while (!outgoing_.empty() && bytes < kResponseBytes) {
    Ack* ack = std::get_if<Ack>(&outgoing_.front());
    if (ack == nullptr) break;
    committed->set_through_sequence(ack->through_sequence);
    committed->set_version(ack->version);
    committed->clear_progress();
    SetProgress(ack->progress, committed->mutable_progress());
    if (ack->notable != nullptr) {
      bytes += ack->notable->ByteSizeLong();
      *committed->add_notable() = std::move(*ack->notable);
    }
    outgoing_.pop_front();
    ++being_written_;
  }
  return true;
}

}  // namespace casement::rpc
