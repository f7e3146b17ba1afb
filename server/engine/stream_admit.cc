// Admission: whether a record may become the next one. Nothing here changes
// anything, and whatever passes folds without error.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/engine/error.h"
#include "server/engine/stream.h"
#include "server/engine/stream_impl.h"

namespace casement::engine {
namespace {

// The last time that is not too far ahead, or kEndOfTime without a guard.
TimeUs GuardLimit(const WatermarkSpec& spec, const BatchRecord& batch) {
  if (spec.future_action == FutureAction::kAccept ||
      !batch.arrival_time.has_value()) {
    return kEndOfTime;
  }
  return std::clamp(*batch.arrival_time, kMinEventTime, kMaxEventTime) +
         spec.max_future_skew_us;
}

absl::Status CheckEpoch(const ProducerState& producer,
                        const BatchRecord& batch) {
  if (batch.epoch == producer.info.epoch) return absl::OkStatus();
  return MakeError(absl::StatusCode::kFailedPrecondition, kProducerFenced,
                   absl::StrCat("producer \"", batch.producer,
                                "\" is in epoch ", producer.info.epoch,
                                ", this batch is of epoch ", batch.epoch),
                   {{"current_epoch", absl::StrCat(producer.info.epoch)}});
}

// The answer to a batch that was taken before.
absl::StatusOr<BatchAck> AnswerRepeat(const ProducerState& producer,
                                      const BatchRecord& batch) {
  for (const ProducerState::Answer& answer : producer.answers) {
    if (answer.ack.sequence != batch.sequence) continue;
    if (answer.digest != batch.digest) {
      return MakeError(
          absl::StatusCode::kInvalidArgument, kSequenceReused,
          absl::StrCat("sequence ", batch.sequence, " of producer \"",
                       batch.producer, "\" had other content before"),
          {{"sequence", absl::StrCat(batch.sequence)}});
    }
    BatchAck ack = answer.ack;
    ack.repeat = true;
    return ack;
  }
  // Taken so long ago that only this is known; the oldest remembered version
  // includes it.
  BatchAck ack;
  ack.sequence = batch.sequence;
  ack.repeat = true;
  if (!producer.answers.empty()) {
    ack.version = producer.answers.front().ack.version;
    ack.progress = producer.answers.front().ack.progress;
  }
  return ack;
}

absl::Status CheckContent(const StreamSpec& spec, const BatchRecord& batch) {
  if (batch.events.sent_count == 0 && !batch.asserted_watermark.has_value() &&
      batch.source_state == SourceState::kUnchanged) {
    return MakeError(absl::StatusCode::kInvalidArgument, kMalformedBatch,
                     "the batch has no events, no watermark and no state");
  }
  if (batch.asserted_watermark.has_value() &&
      *batch.asserted_watermark > GuardLimit(spec.watermark, batch)) {
    return InvalidField("batch.watermark_time",
                        "is further ahead of the server's clock than "
                        "max_future_skew allows");
  }
  return absl::OkStatus();
}

// One record must not bring out more results than memory holds.
absl::Status CheckPlacements(const View& view, const BatchRecord& batch) {
  const ViewSpec& spec = view.definition().spec;
  const int64_t placements =
      spec.TellsChanges() ? kMaxToldPlacements : kMaxBatchPlacements;
  const int64_t most = placements / spec.WindowsPerEvent();
  if (batch.events.row_count() <= most) return absl::OkStatus();
  return MakeError(
      absl::StatusCode::kInvalidArgument, kBatchTooLarge,
      absl::StrCat("an event is in ", spec.WindowsPerEvent(),
                   " windows of view \"", view.definition().id, "\": at most ",
                   most, " events a batch, given ", batch.events.row_count()),
      {{"expected", absl::StrCat(most)},
       {"given", absl::StrCat(batch.events.row_count())}});
}

std::string ReasonName(RejectReason reason) {
  switch (reason) {
    case RejectReason::kMissingTime:
      return "MISSING_TIME";
    case RejectReason::kTimeOutOfRange:
      return "TIME_OUT_OF_RANGE";
    case RejectReason::kTooFarAhead:
      return "TOO_FAR_AHEAD";
    case RejectReason::kMissingField:
      return "MISSING_FIELD";
    case RejectReason::kUnknownField:
      return "UNKNOWN_FIELD";
    case RejectReason::kWrongType:
      return "WRONG_TYPE";
    case RejectReason::kValueTooLarge:
      return "VALUE_TOO_LARGE";
    case RejectReason::kNotUtf8:
      return "NOT_UTF8";
    case RejectReason::kInvalidTime:
      return "INVALID_TIME";
  }
  return "UNSPECIFIED";
}

FieldViolation ViolationOf(int32_t index, const std::string& field,
                           const std::string& message, RejectReason reason) {
  FieldViolation violation;
  violation.field = field.empty() ? absl::StrCat("events[", index, "]")
                                  : absl::StrCat("events[", index, "].", field);
  violation.description = message;
  violation.reason = ReasonName(reason);
  return violation;
}

}  // namespace

std::vector<Stream::Impl::RowReject> Stream::Impl::FindRejects(
    const StreamSpec& spec, const BatchRecord& batch) const {
  std::vector<RowReject> rejects;
  const EventBatch& events = batch.events;
  // Bad events come before those that the guard refuses.
  for (const auto& [number, view] : views) {
    const KeyResolver& resolver = view->windows().resolver();
    if (resolver.MaxKeyBytes(events) <= kMaxKeyBytes) continue;
    for (int32_t row = 0; row < events.row_count(); ++row) {
      if (resolver.KeyBytes(events, row) <= kMaxKeyBytes) continue;
      rejects.push_back(
          {row, RejectReason::kValueTooLarge,
           view->definition().spec.group_by[0],
           absl::StrCat("makes a key of more than ", kMaxKeyBytes,
                        " bytes in view \"", view->definition().id, "\"")});
    }
  }
  const TimeUs limit = GuardLimit(spec.watermark, batch);
  if (spec.watermark.future_action == FutureAction::kReject &&
      limit != kEndOfTime) {
    for (int32_t row = 0; row < events.row_count(); ++row) {
      if (events.times[row] <= limit) continue;
      rejects.push_back({row, RejectReason::kTooFarAhead, "event_time",
                         "is too far ahead of the server's clock"});
    }
  }
  std::stable_sort(
      rejects.begin(), rejects.end(),
      [](const RowReject& a, const RowReject& b) { return a.row < b.row; });
  rejects.erase(std::unique(rejects.begin(), rejects.end(),
                            [](const RowReject& a, const RowReject& b) {
                              return a.row == b.row;
                            }),
                rejects.end());
  return rejects;
}

absl::StatusOr<std::optional<BatchAck>> Stream::Admit(
    const BatchRecord& batch) const {
  const ProducerState* producer = impl_->producers.Find(batch.producer);
  if (producer == nullptr) {
    return NoSuchResource(absl::StrCat("producers/", batch.producer));
  }
  if (absl::Status status = CheckEpoch(*producer, batch); !status.ok()) {
    return status;
  }
  if (batch.sequence < 1) {
    return InvalidField("batch.sequence", "must be at least 1");
  }
  const int64_t expected = producer->info.last_sequence + 1;
  if (batch.sequence < expected) {
    absl::StatusOr<BatchAck> ack = AnswerRepeat(*producer, batch);
    if (!ack.ok()) return ack.status();
    return std::optional<BatchAck>(*std::move(ack));
  }
  if (batch.sequence > expected) {
    return MakeError(
        absl::StatusCode::kAborted, kSequenceGap,
        absl::StrCat("producer \"", batch.producer, "\": expected sequence ",
                     expected, ", given ", batch.sequence),
        {{"expected_sequence", absl::StrCat(expected)},
         {"given_sequence", absl::StrCat(batch.sequence)}});
  }
  if (absl::Status status = CheckContent(spec_, batch); !status.ok()) {
    return status;
  }
  for (const auto& [number, view] : impl_->views) {
    if (absl::Status status = CheckPlacements(*view, batch); !status.ok()) {
      return status;
    }
  }
  if (spec_.invalid_event_policy == InvalidEventPolicy::kRejectBatch) {
    std::vector<std::pair<int32_t, FieldViolation>> bad;
    for (const RejectedEvent& reject : batch.events.rejects) {
      bad.emplace_back(reject.index,
                       ViolationOf(reject.index, reject.field, reject.message,
                                   reject.reason));
    }
    for (const Impl::RowReject& reject : impl_->FindRejects(spec_, batch)) {
      const int32_t index = batch.events.SentIndex(reject.row);
      bad.emplace_back(index, ViolationOf(index, reject.field, reject.message,
                                          reject.reason));
    }
    std::stable_sort(bad.begin(), bad.end(), [](const auto& a, const auto& b) {
      return a.first < b.first;
    });
    std::vector<FieldViolation> violations;
    for (auto& [index, violation] : bad) {
      violations.push_back(std::move(violation));
    }
    if (!violations.empty()) return InvalidFields(std::move(violations));
  }
  return std::optional<BatchAck>();
}

absl::Status Stream::AdmitFates(const BatchRecord& batch) const {
  const int64_t fates = static_cast<int64_t>(batch.events.sent_count) *
                        static_cast<int64_t>(impl_->views.size());
  if (fates <= kMaxFates) return absl::OkStatus();
  return InvalidField(
      "report", absl::StrCat("REPORT_FATES is for at most ", kMaxFates,
                             " events times views; this batch has ", fates));
}

absl::Status Stream::Admit(const OpenProducerRecord& open,
                           std::optional<int64_t> expected_epoch) const {
  if (!IsValidId(open.producer)) {
    return InvalidField("producer_id",
                        absl::StrCat("\"", open.producer,
                                     "\" is not [a-z][a-z0-9-]{0,61}[a-z0-9]"));
  }
  const ProducerState* producer = impl_->producers.Find(open.producer);
  const int64_t epoch = producer == nullptr ? 0 : producer->info.epoch;
  if (expected_epoch.has_value() && *expected_epoch != epoch) {
    return MakeError(
        absl::StatusCode::kFailedPrecondition, kProducerFenced,
        absl::StrCat("producer \"", open.producer, "\" is in epoch ", epoch,
                     ", not ", *expected_epoch),
        {{"current_epoch", absl::StrCat(epoch)}});
  }
  if (producer == nullptr && impl_->producers.size() >= kMaxProducers) {
    return MakeError(
        absl::StatusCode::kResourceExhausted, kQuota,
        absl::StrCat("a stream has at most ", kMaxProducers, " producers"),
        {{"limit", absl::StrCat(kMaxProducers)},
         {"used", absl::StrCat(impl_->producers.size())}});
  }
  return absl::OkStatus();
}

absl::Status Stream::Admit(const CreateViewRecord& create) const {
  if (!IsValidId(create.definition.id)) {
    return InvalidField("view_id",
                        absl::StrCat("\"", create.definition.id,
                                     "\" is not [a-z][a-z0-9-]{0,61}[a-z0-9]"));
  }
  if (impl_->FindView(create.definition.id) != nullptr) {
    ErrorDetail detail;
    detail.reason = kResourceExists;
    detail.resource = absl::StrCat("views/", create.definition.id);
    return MakeError(
        absl::StatusCode::kAlreadyExists,
        absl::StrCat("there is a view \"", create.definition.id, "\""), detail);
  }
  if (impl_->views.size() >= kMaxViews) {
    return MakeError(absl::StatusCode::kResourceExhausted, kQuota,
                     absl::StrCat("a stream has at most ", kMaxViews, " views"),
                     {{"limit", absl::StrCat(kMaxViews)},
                      {"used", absl::StrCat(impl_->views.size())}});
  }
  return ValidateView(create.definition.spec, spec_);
}

}  // namespace casement::engine
