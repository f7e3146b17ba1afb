#include "client/send_queue.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace casement::client {

void SendQueue::Push(BuiltBatch built) {
  Pending pending;
  pending.request = std::make_shared<v1::AppendStreamRequest>();
  pending.request->mutable_batch()->Swap(&built.batch);
  pending.request->mutable_batch()->set_sequence(last_assigned() + 1);
  pending.events = built.events;
  pending.tags = std::move(built.tags);
  events_ += pending.events;
  pending_.push_back(std::move(pending));
}

std::shared_ptr<const v1::AppendStreamRequest> SendQueue::Next(
    int max_in_flight) {
  if (all_sent() || sent_ >= static_cast<size_t>(max_in_flight)) return nullptr;
  return pending_[sent_++].request;
}

absl::Status SendQueue::Rewind(int64_t server_last) {
  if (server_last < last_acked_) {
    return absl::DataLossError(absl::StrCat(
        "the server acknowledged batch ", last_acked_, " but now ends at ",
        server_last,
        ": it was restored from an older copy, or lost power with batches "
        "that were only BUFFERED"));
  }
  if (server_last > last_assigned()) {
    return absl::InternalError(
        absl::StrCat("the server has batch ", server_last, " but only ",
                     last_assigned(), " were sent under this epoch"));
  }
  sent_ = 0;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<BatchReport>> SendQueue::Acknowledge(
    const v1::AppendStreamResponse::Committed& committed) {
  const int64_t through = committed.through_sequence();
  if (through > last_acked_ + static_cast<int64_t>(sent_)) {
    return absl::InternalError(absl::StrCat(
        "the server acknowledged batch ", through, ", which was not sent yet"));
  }
  std::vector<BatchReport> reports;
  int notable = 0;
  while (last_acked_ < through) {
    Pending& front = pending_.front();
    BatchReport report;
    report.sequence = ++last_acked_;
    report.events = front.events;
    report.tags = std::move(front.tags);
    // Those with something to tell come in order of their sequences.
    while (notable < committed.notable_size() &&
           committed.notable(notable).sequence() < report.sequence) {
      ++notable;
    }
    if (notable < committed.notable_size() &&
        committed.notable(notable).sequence() == report.sequence) {
      report.ack = committed.notable(notable);
    } else {
      report.ack.set_sequence(report.sequence);
      report.ack.set_accepted_events(static_cast<int32_t>(report.events));
      report.ack.set_version(committed.version());
      *report.ack.mutable_progress() = committed.progress();
    }
    events_ -= report.events;
    reports.push_back(std::move(report));
    pending_.pop_front();
    --sent_;
  }
  return reports;
}

absl::StatusOr<BatchReport> SendQueue::Peek(int64_t sequence) const {
  if (sequence <= last_acked_ || sequence > last_assigned()) {
    return absl::NotFoundError(
        absl::StrCat("batch ", sequence, " is not among those that wait"));
  }
  const Pending& pending = pending_[sequence - last_acked_ - 1];
  BatchReport report;
  report.sequence = sequence;
  report.events = pending.events;
  report.tags = pending.tags;
  return report;
}

absl::StatusOr<BatchReport> SendQueue::Drop(int64_t sequence) {
  absl::StatusOr<BatchReport> report = Peek(sequence);
  if (!report.ok()) return report;
  const size_t index = sequence - last_acked_ - 1;
  events_ -= report->events;
  pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(index));
  for (size_t i = index; i < pending_.size(); ++i) {
    // A request may still be on its way out of a thread that writes it: its
    // successor is a copy.
    auto renumbered =
        std::make_shared<v1::AppendStreamRequest>(*pending_[i].request);
    renumbered->mutable_batch()->set_sequence(last_acked_ + 1 +
                                              static_cast<int64_t>(i));
    pending_[i].request = std::move(renumbered);
  }
  sent_ = std::min(sent_, index);
  return report;
}

}  // namespace casement::client
