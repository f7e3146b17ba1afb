#include "tests/model/model.h"

#include <algorithm>
#include <utility>

namespace casement::model {

using absl::StatusCode;
using engine::BatchAck;
using engine::BatchRecord;
using engine::FieldType;
using engine::RejectReason;
using engine::SourceState;
using engine::TimeUs;

namespace {

void CountReject(RejectReason reason, BatchAck* ack) {
  ++ack->rejected;
  ++ack->rejected_by_reason[static_cast<size_t>(reason)];
}

// Numbers are 8 bytes.
int64_t KeyBytes(const Key& key) {
  int64_t bytes = 0;
  for (const engine::ScalarValue& part : key) {
    if (const auto* text = std::get_if<std::string>(&part)) {
      bytes += static_cast<int64_t>(text->size());
    } else if (const auto* raw = std::get_if<engine::Bytes>(&part)) {
      bytes += static_cast<int64_t>(raw->value.size());
    } else if (!std::holds_alternative<std::monostate>(part)) {
      bytes += 8;
    }
  }
  return bytes;
}

}  // namespace

std::vector<engine::ScalarValue> RowValues(const engine::EventBatch& events,
                                           int row,
                                           const engine::StreamSpec& spec) {
  std::vector<engine::ScalarValue> values;
  for (size_t f = 0; f < spec.fields.size(); ++f) {
    const engine::Column& column = events.columns[f];
    if (column.IsNull(row)) {
      values.emplace_back();
      continue;
    }
    switch (spec.fields[f].type) {
      case FieldType::kInt64:
        values.emplace_back(column.int64s[row]);
        break;
      case FieldType::kDouble:
        values.emplace_back(column.doubles[row]);
        break;
      case FieldType::kBool:
        values.emplace_back(column.int64s[row] != 0);
        break;
      case FieldType::kString:
        values.emplace_back(std::string(events.symbols[column.symbols[row]]));
        break;
      case FieldType::kBytes:
        values.emplace_back(
            engine::Bytes{std::string(events.symbols[column.symbols[row]])});
        break;
    }
  }
  return values;
}

Model::Model(engine::StreamSpec spec) : spec_(std::move(spec)) {}

ExpectedAdmission Model::Admit(const BatchRecord& batch) const {
  ExpectedAdmission expected;
  const auto found = producers_.find(batch.producer);
  if (found == producers_.end()) {
    expected.codes.insert(StatusCode::kNotFound);
    return expected;
  }
  const ModelProducer& producer = found->second;
  if (batch.epoch != producer.epoch) {
    expected.codes.insert(StatusCode::kFailedPrecondition);
    if (batch.epoch > producer.epoch) {
      expected.codes.insert(StatusCode::kInvalidArgument);
    }
    return expected;
  }
  const bool empty = batch.events.sent_count == 0 &&
                     !batch.asserted_watermark.has_value() &&
                     batch.source_state == SourceState::kUnchanged;
  if (batch.sequence <= producer.last_sequence && !empty) {
    const auto answer = producer.answers.find(batch.sequence);
    if (answer != producer.answers.end() &&
        batch.sequence + engine::kRememberedAnswers > producer.last_sequence) {
      if (answer->second.first != batch.digest) {
        expected.codes.insert(StatusCode::kInvalidArgument);
      } else {
        expected.repeat = answer->second.second;
        expected.repeat->repeat = true;
      }
    } else {
      expected.forgotten = true;
    }
    return expected;
  }
  if (batch.sequence > producer.last_sequence + 1) {
    expected.codes.insert(StatusCode::kAborted);
  }
  if (spec_.invalid_event_policy == engine::InvalidEventPolicy::kRejectBatch) {
    for (const engine::RejectedEvent& reject : batch.events.rejects) {
      expected.bad[reject.index] = reject.reason;
    }
    for (int row = 0; row < batch.events.row_count(); ++row) {
      const auto reason = Refuses(batch, row);
      if (reason) expected.bad[batch.events.SentIndex(row)] = *reason;
    }
  }
  const bool far = batch.asserted_watermark.has_value() &&
                   TooFarAhead(spec_.watermark, *batch.asserted_watermark,
                               batch.arrival_time);
  if (empty || far || !expected.bad.empty()) {
    expected.codes.insert(StatusCode::kInvalidArgument);
  }
  // An error before them hides the bad events.
  if (empty || far || expected.codes.size() > 1) expected.bad.clear();
  return expected;
}

Outcome Model::Fold(const engine::Record& record,
                    std::optional<uint32_t> created) {
  Outcome outcome;
  ++progress_.version;
  if (const auto* batch = std::get_if<BatchRecord>(&record)) {
    FoldBatch(*batch, &outcome);
  } else if (const auto* open =
                 std::get_if<engine::OpenProducerRecord>(&record)) {
    ++producers_[open->producer].epoch;
  } else if (const auto* create =
                 std::get_if<engine::CreateViewRecord>(&record)) {
    std::optional<TimeUs> greatest;
    for (const ModelEvent& event : events_) {
      greatest = std::max(greatest.value_or(event.time), event.time);
    }
    views_[created.value()] = std::make_unique<ViewModel>(
        create->definition, spec_, greatest, events_.size());
  } else if (const auto* drop =
                 std::get_if<engine::DeleteViewRecord>(&record)) {
    views_.erase(drop->view_number);
  } else {
    progress_.watermark = engine::kEndOfTime;
  }
  history_.push_back(progress_.watermark);
  StepViews(&outcome);
  if (const auto* batch = std::get_if<BatchRecord>(&record)) {
    CountLate(batch->producer, &outcome);
    producers_[batch->producer].answers[batch->sequence] = {batch->digest,
                                                            *outcome.ack};
  }
  outcome.progress = progress_;
  return outcome;
}

std::optional<RejectReason> Model::Refuses(const BatchRecord& batch,
                                           int row) const {
  const std::vector<engine::ScalarValue> values =
      RowValues(batch.events, row, spec_);
  for (const auto& [number, view] : views_) {
    if (KeyBytes(view->KeyOf(values)) > engine::kMaxKeyBytes) {
      return RejectReason::kValueTooLarge;
    }
  }
  if (spec_.watermark.future_action == engine::FutureAction::kReject &&
      TooFarAhead(spec_.watermark, batch.events.times[row],
                  batch.arrival_time)) {
    return RejectReason::kTooFarAhead;
  }
  return std::nullopt;
}

void Model::FoldBatch(const BatchRecord& batch, Outcome* outcome) {
  ModelProducer& producer = producers_[batch.producer];
  outcome->ack.emplace();
  outcome->ack->sequence = batch.sequence;
  outcome->ack->version = progress_.version;
  producer.last_sequence = batch.sequence;
  for (const engine::RejectedEvent& reject : batch.events.rejects) {
    CountReject(reject.reason, &*outcome->ack);
  }
  FoldEvents(batch, &producer, outcome);
  FoldStatements(batch, &producer);
  outcome->ack->progress = progress_;
  producer.accepted += outcome->ack->accepted;
  producer.rejected += outcome->ack->rejected;
  accounts_.accepted += outcome->ack->accepted;
  accounts_.rejected += outcome->ack->rejected;
}

void Model::FoldEvents(const BatchRecord& batch, ModelProducer* producer,
                       Outcome* outcome) {
  const TimeUs before = progress_.watermark;
  const bool each = spec_.watermark.advance == engine::Advance::kAfterEachEvent;
  for (int row = 0; row < batch.events.row_count(); ++row) {
    const TimeUs time = batch.events.times[row];
    const int32_t index = batch.events.SentIndex(row);
    const bool far = TooFarAhead(spec_.watermark, time, batch.arrival_time);
    if (const auto reason = Refuses(batch, row); reason.has_value()) {
      CountReject(*reason, &*outcome->ack);
      outcome->rejects[index] = *reason;
      continue;
    }
    ++outcome->ack->accepted;
    events_.push_back({progress_.version, index, time,
                       each ? progress_.watermark : before,
                       RowValues(batch.events, row, spec_)});
    outcome->accepted.push_back(events_.back());
    producer->spoken = true;
    producer->state = SourceState::kActive;
    if (!far) {  // a held one moves no watermark
      producer->max_event_time =
          std::max(producer->max_event_time.value_or(time), time);
    }
    if (each) MoveWatermark();
  }
  MoveWatermark();
}

void Model::FoldStatements(const BatchRecord& batch, ModelProducer* producer) {
  if (batch.asserted_watermark.has_value()) {
    const TimeUs asserted = *batch.asserted_watermark;
    producer->spoken = true;
    producer->state = SourceState::kActive;
    producer->asserted =
        std::max(producer->asserted.value_or(asserted), asserted);
    MoveWatermark();
  }
  if (batch.source_state != SourceState::kUnchanged) {
    producer->state = batch.source_state;
    MoveWatermark();
  }
  if (batch.source_position.has_value()) {
    producer->source_position = *batch.source_position;
  }
}

void Model::MoveWatermark() {
  progress_.watermark =
      StreamWatermark(spec_.watermark, producers_, progress_.watermark);
}

void Model::StepViews(Outcome* outcome) {
  for (const auto& [number, view] : views_) {
    outcome->views[number] = view->Step(events_, history_);
  }
}

void Model::CountLate(const std::string& producer, Outcome* outcome) {
  for (size_t i = 0; i < outcome->accepted.size(); ++i) {
    for (const auto& [number, view] : outcome->views) {
      if (view.verdicts[i].state == engine::FateInView::State::kLate) {
        ++outcome->ack->late;
        ++producers_[producer].late;
        ++accounts_.late;
        break;
      }
    }
  }
}

}  // namespace casement::model
