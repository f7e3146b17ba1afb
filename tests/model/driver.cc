#include "tests/model/driver.h"

#include <utility>

#include "absl/status/statusor.h"

namespace casement::model {

using engine::BatchRecord;
using engine::Changes;
using engine::CreateViewRecord;
using engine::DeleteViewRecord;
using engine::OpenProducerRecord;
using engine::Record;
using engine::Stream;

namespace {

// Makes other content of a batch, in one of its parts.
void Alter(uint64_t choice, BatchRecord* batch) {
  engine::EventBatch& events = batch->events;
  const uint64_t part = choice % 4;
  if (part == 0 && events.row_count() > 0) {
    events.times[choice % events.times.size()] ^= 1;
  } else if (part == 1) {
    batch->asserted_watermark = batch->asserted_watermark.value_or(0) ^ 1;
  } else if (part == 2) {
    batch->source_state = batch->source_state == engine::SourceState::kIdle
                              ? engine::SourceState::kDone
                              : engine::SourceState::kIdle;
  } else {
    batch->source_position = batch->source_position.value_or("") + "x";
  }
}

}  // namespace

std::vector<Record> Driver::Records(const Step& step) const {
  if (const auto* batch = std::get_if<BatchStep>(&step)) return Batches(*batch);
  std::vector<Record> records;
  if (const auto* open = std::get_if<OpenStep>(&step)) {
    records.emplace_back(OpenProducerRecord{open->producer});
  } else if (const auto* create = std::get_if<CreateViewStep>(&step)) {
    records.emplace_back(CreateViewRecord{create->definition});
  } else if (const auto* drop = std::get_if<DeleteViewStep>(&step)) {
    const auto found = views_.find(drop->id);
    if (found != views_.end()) {
      records.emplace_back(DeleteViewRecord{found->second});
    }
  } else {
    records.emplace_back(engine::EndStreamRecord{});
  }
  return records;
}

std::vector<Record> Driver::Batches(const BatchStep& step) const {
  std::vector<Record> records;
  const auto found = senders_.find(step.producer);
  if (found == senders_.end()) return records;
  const Sender& sender = found->second;
  BatchRecord batch;
  batch.producer = step.producer;
  batch.epoch = sender.epoch;
  batch.sequence = sender.last_sequence + 1;
  batch.arrival_time = step.arrival;
  batch.events = MakeEvents(spec_, step.events, step.layout);
  batch.asserted_watermark = step.asserted;
  batch.source_state = step.state;
  batch.source_position = step.position;
  engine::SetDigest(&batch);

  BatchRecord wrong = batch;
  if (step.twist == Twist::kGap) {
    wrong.sequence += 1 + static_cast<int64_t>(step.layout % 3);
    records.emplace_back(wrong);
  } else if (step.twist == Twist::kFenced) {
    wrong.epoch -= 1;
    records.emplace_back(wrong);
  } else if (step.twist == Twist::kUnknown) {
    wrong.producer = "never-opened";
    records.emplace_back(wrong);
  }
  records.emplace_back(batch);
  if (sender.sent.empty()) return records;
  size_t former = step.layout % sender.sent.size();
  // Often the last that is still remembered, or the first that isn't.
  constexpr size_t kEdge = engine::kRememberedAnswers - 1;
  if (sender.sent.size() > kEdge && step.layout % 2 == 0) {
    former = sender.sent.size() - kEdge - step.layout / 2 % 2;
  }
  if (step.twist == Twist::kRepeat) {
    BatchRecord repeat = sender.sent[former];
    repeat.epoch = sender.epoch;
    repeat.arrival_time = step.arrival;
    records.emplace_back(std::move(repeat));
  } else if (step.twist == Twist::kReuse) {
    wrong = sender.sent[former];
    wrong.epoch = sender.epoch;
    Alter(step.layout, &wrong);
    engine::SetDigest(&wrong);
    records.emplace_back(std::move(wrong));
  }
  return records;
}

void Driver::Folded(const Record& record,
                    std::optional<uint32_t> created_view) {
  if (const auto* batch = std::get_if<BatchRecord>(&record)) {
    Sender& sender = senders_[batch->producer];
    sender.last_sequence = batch->sequence;
    sender.sent.push_back(*batch);
  } else if (const auto* open = std::get_if<OpenProducerRecord>(&record)) {
    ++senders_[open->producer].epoch;
  } else if (const auto* create = std::get_if<CreateViewRecord>(&record)) {
    views_[create->definition.id] = created_view.value_or(0);
  } else if (const auto* drop = std::get_if<DeleteViewRecord>(&record)) {
    for (auto view = views_.begin(); view != views_.end(); ++view) {
      if (view->second != drop->view_number) continue;
      views_.erase(view);
      break;
    }
  }
}

bool Admits(const Stream& stream, const Record& record) {
  if (const auto* batch = std::get_if<BatchRecord>(&record)) {
    const auto admission = stream.Admit(*batch);
    return admission.ok() && !admission->has_value();
  }
  if (const auto* open = std::get_if<OpenProducerRecord>(&record)) {
    return stream.Admit(*open, std::nullopt).ok();
  }
  if (const auto* create = std::get_if<CreateViewRecord>(&record)) {
    return stream.Admit(*create).ok();
  }
  return !std::holds_alternative<engine::EndStreamRecord>(record) ||
         !stream.ended();
}

void FoldScript(
    const Script& script, bool want_fates, Stream* stream,
    const std::function<void(const Record&, const Changes&)>& folded) {
  Driver driver(script.spec);
  Changes changes;
  for (const Step& step : script.steps) {
    for (const Record& record : driver.Records(step)) {
      if (!Admits(*stream, record)) continue;
      stream->Fold(record, want_fates, &changes);
      driver.Folded(record, changes.created_view);
      folded(record, changes);
    }
  }
}

std::vector<Record> RecordsOf(const Script& script) {
  std::vector<Record> records;
  Stream stream(script.spec);
  FoldScript(script, /*want_fates=*/false, &stream,
             [&records](const Record& record, const Changes&) {
               records.push_back(record);
             });
  return records;
}

}  // namespace casement::model
