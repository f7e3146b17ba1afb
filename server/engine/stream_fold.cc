// The fold of a batch: what each event is judged by, what it moves, and what
// comes of it in every view.
#include <algorithm>
#include <utility>

#include "server/engine/stream.h"
#include "server/engine/stream_impl.h"

namespace casement::engine {
namespace {

// Events after this time count but move no watermark.
TimeUs HoldLimit(const WatermarkSpec& spec, const BatchRecord& batch) {
  if (spec.future_action != FutureAction::kHold ||
      !batch.arrival_time.has_value()) {
    return kEndOfTime;
  }
  return std::clamp(*batch.arrival_time, kMinEventTime, kMaxEventTime) +
         spec.max_future_skew_us;
}

void Remember(ProducerState* producer, uint64_t digest, const BatchAck& ack) {
  if (producer->answers.size() == kRememberedAnswers) {
    producer->answers.pop_front();
  }
  producer->answers.push_back({digest, ack});
}

}  // namespace

TimeUs Stream::Impl::MoveWatermark(const StreamSpec& spec,
                                   const BatchRecord& batch,
                                   const std::vector<RowReject>& rejects,
                                   TimeUs before, ProducerState* producer) {
  const EventBatch& events = batch.events;
  const int rows = events.row_count();
  skip.assign(rejects.empty() ? 0 : rows, 0);
  for (const RowReject& reject : rejects) skip[reject.row] = 1;

  const bool each_event = spec.watermark.advance == Advance::kAfterEachEvent;
  const TimeUs hold_limit = HoldLimit(spec.watermark, batch);
  const ProducerTable::Rest rest = producers.RestWithout(*producer);
  TimeUs max_time = producer->info.max_event_time;
  TimeUs watermark = before;
  bool spoke = false;
  judged_by.assign(each_event ? rows : 0, before);
  for (int row = 0; row < rows; ++row) {
    if (each_event) judged_by[row] = watermark;
    if (!skip.empty() && skip[row] != 0) continue;
    spoke = true;
    const TimeUs time = events.times[row];
    max_accepted_time = std::max(max_accepted_time, time);
    if (time <= hold_limit) max_time = std::max(max_time, time);
    if (each_event && before != kEndOfTime) {
      watermark = rest.With(
          watermark, producers.OwnWatermark(max_time, producer->asserted));
    }
  }
  const TimeUs asserted = batch.asserted_watermark.value_or(kNoWatermark);
  spoke |= batch.asserted_watermark.has_value();
  producers.Update(producer, max_time, asserted, spoke,
                   SourceState::kUnchanged);
  if (spoke) watermark = rest.With(watermark, producer->info.watermark);
  if (batch.source_state != SourceState::kUnchanged) {
    producers.Update(producer, kNoWatermark, kNoWatermark, false,
                     batch.source_state);
    watermark = producers.Watermark(watermark);
  }
  return std::max(before, watermark);
}

void Stream::Impl::FoldBatch(Stream* stream, const BatchRecord& batch,
                             bool want_fates, Changes* changes) {
  const EventBatch& events = batch.events;
  ProducerState* producer = producers.Find(batch.producer);
  const std::vector<RowReject> rejects = FindRejects(stream->spec_, batch);

  FoldInput input;
  input.batch = &events;
  input.version = changes->version;
  input.before = stream->progress_.watermark;
  input.after =
      MoveWatermark(stream->spec_, batch, rejects, input.before, producer);
  input.judged_by = judged_by.empty() ? nullptr : judged_by.data();
  input.skip = skip.empty() ? nullptr : skip.data();
  stream->progress_.watermark = input.after;

  BatchAck ack;
  ack.sequence = batch.sequence;
  ack.version = changes->version;
  ack.rejected = static_cast<int32_t>(events.rejects.size() + rejects.size());
  ack.accepted = events.sent_count - ack.rejected;
  for (const RejectedEvent& reject : events.rejects) {
    ++ack.rejected_by_reason[static_cast<int>(reject.reason)];
  }
  for (const RowReject& reject : rejects) {
    ++ack.rejected_by_reason[static_cast<int>(reject.reason)];
    changes->rejects.push_back({events.SentIndex(reject.row), reject.reason,
                                reject.field, reject.message});
  }
  ack.progress = stream->progress_;

  late_rows.assign(events.row_count(), 0);
  std::vector<RowFate> fates;
  FoldViews(&batch, input, ack.accepted, want_fates ? &fates : nullptr,
            changes);
  ack.late = static_cast<int32_t>(
      std::count(late_rows.begin(), late_rows.end(), uint8_t{1}));
  if (want_fates) TellFates(events, std::move(fates), changes);

  StreamAccounts& accounts = stream->accounts_;
  accounts.accepted += ack.accepted;
  accounts.rejected += ack.rejected;
  accounts.late += ack.late;
  ProducerInfo& info = producer->info;
  info.last_sequence = batch.sequence;
  info.accepted += ack.accepted;
  info.rejected += ack.rejected;
  info.late += ack.late;
  if (batch.source_position.has_value()) {
    info.source_position = *batch.source_position;
  }
  Remember(producer, batch.digest, ack);
  changes->ack = ack;
}

void Stream::Impl::FoldViews(const BatchRecord* batch, const FoldInput& input,
                             int64_t accepted, std::vector<RowFate>* fates,
                             Changes* changes) {
  int fate_windows = kMaxFateWindows;
  for (const auto& [number, view] : views) {
    ViewChanges view_changes;
    view->Fold(batch, input, accepted, &late_rows, fates, &fate_windows,
               &view_changes);
    if (!view_changes.results.empty() || !view_changes.late_events.empty()) {
      changes->views.push_back(std::move(view_changes));
    }
  }
}

// An event that any view did not simply count is told for all of them.
void Stream::Impl::TellFates(const EventBatch& events,
                             std::vector<RowFate> fates,
                             Changes* changes) const {
  std::stable_sort(
      fates.begin(), fates.end(),
      [](const RowFate& a, const RowFate& b) { return a.row < b.row; });
  for (size_t i = 0; i < fates.size();) {
    const int32_t row = fates[i].row;
    EventFate fate;
    fate.index = events.SentIndex(row);
    for (const auto& [number, view] : views) {
      if (i < fates.size() && fates[i].row == row &&
          fates[i].fate.view_number == number) {
        fate.in_views.push_back(std::move(fates[i++].fate));
      } else {
        FateInView counted;
        counted.view_number = number;
        fate.in_views.push_back(std::move(counted));
      }
    }
    changes->fates.push_back(std::move(fate));
  }
}

}  // namespace casement::engine
