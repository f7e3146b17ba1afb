#include "server/engine/producer_table.h"

namespace casement::engine {
namespace {

constexpr size_t kProducerBytes = 256;

// ack := sequence version accepted late duplicate rejected
//        count (reason:1 count)* watermark progress_version
void SaveAck(const BatchAck& ack, Encoder* out) {
  out->Signed(ack.sequence);
  out->Signed(ack.version);
  out->Varint(ack.accepted);
  out->Varint(ack.late);
  out->Varint(ack.duplicate);
  out->Varint(ack.rejected);
  const auto kinds = std::count_if(ack.rejected_by_reason.begin(),
                                   ack.rejected_by_reason.end(),
                                   [](int32_t count) { return count != 0; });
  out->Varint(kinds);
  for (size_t i = 0; i < ack.rejected_by_reason.size(); ++i) {
    if (ack.rejected_by_reason[i] == 0) continue;
    out->Byte(static_cast<uint8_t>(i));
    out->Varint(ack.rejected_by_reason[i]);
  }
  out->Signed(ack.progress.watermark);
  out->Signed(ack.progress.version);
}

void LoadAck(Decoder* in, BatchAck* ack) {
  ack->sequence = in->Signed();
  ack->version = in->Signed();
  ack->accepted = static_cast<int32_t>(in->Varint());
  ack->late = static_cast<int32_t>(in->Varint());
  ack->duplicate = static_cast<int32_t>(in->Varint());
  ack->rejected = static_cast<int32_t>(in->Varint());
  for (uint64_t n = in->Count(2); n > 0; --n) {
    const uint8_t reason = in->Enum(0, kRejectReasons - 1);
    ack->rejected_by_reason[reason] = static_cast<int32_t>(in->Varint());
  }
  ack->progress.watermark = in->Signed();
  ack->progress.version = in->Signed();
}

}  // namespace

ProducerTable::ProducerTable(const WatermarkSpec& spec)
    : spec_(spec),
      awaited_(spec.required_producers.begin(), spec.required_producers.end()) {
}

const ProducerState* ProducerTable::Find(absl::string_view id) const {
  const auto found = producers_.find(id);
  return found == producers_.end() ? nullptr : &found->second;
}

ProducerState* ProducerTable::Find(absl::string_view id) {
  const auto found = producers_.find(id);
  return found == producers_.end() ? nullptr : &found->second;
}

ProducerState* ProducerTable::FindOrAdd(absl::string_view id) {
  ProducerState& producer = producers_[std::string(id)];
  producer.info.id = std::string(id);
  return &producer;
}

size_t ProducerTable::memory_bytes() const {
  return producers_.size() *
         (kProducerBytes + kRememberedAnswers * sizeof(ProducerState::Answer));
}

ProducerTable::Rest ProducerTable::RestWithout(
    const ProducerState& producer) const {
  Rest rest;
  if (spec_.combine == Combine::kGreatest) {
    rest.greatest = true;
    return rest;
  }
  const size_t self_awaited = awaited_.count(producer.info.id);
  if (awaited_.size() > self_awaited) {
    rest.least = kNoWatermark;
    return rest;
  }
  auto least = counting_.begin();
  // Its own entry is one of the equal ones: leave out any of them.
  if (least != counting_.end() && Counts(producer) &&
      *least == producer.info.watermark) {
    ++least;
  }
  if (least != counting_.end()) rest.least = *least;
  return rest;
}

void ProducerTable::StartCounting(const ProducerState& producer) {
  if (Counts(producer)) counting_.insert(producer.info.watermark);
}

void ProducerTable::StopCounting(const ProducerState& producer) {
  if (Counts(producer)) {
    counting_.erase(counting_.find(producer.info.watermark));
  }
}

void ProducerTable::Update(ProducerState* producer, TimeUs max_event_time,
                           TimeUs asserted, bool spoke, SourceState state) {
  StopCounting(*producer);
  ProducerInfo& info = producer->info;
  info.max_event_time = std::max(info.max_event_time, max_event_time);
  producer->asserted = std::max(producer->asserted, asserted);
  info.watermark = OwnWatermark(info.max_event_time, producer->asserted);
  if (spoke) {
    producer->spoken = true;
    info.source_state = SourceState::kActive;
  }
  if (state != SourceState::kUnchanged) info.source_state = state;
  if (producer->spoken || info.source_state != SourceState::kActive) {
    awaited_.erase(info.id);
  } else if (std::find(spec_.required_producers.begin(),
                       spec_.required_producers.end(),
                       info.id) != spec_.required_producers.end()) {
    awaited_.insert(info.id);  // back from idle without a word
  }
  StartCounting(*producer);
}

TimeUs ProducerTable::Watermark(TimeUs before) const {
  if (spec_.combine == Combine::kGreatest) return before;
  if (!awaited_.empty() || counting_.empty()) return before;
  return std::max(before, *counting_.begin());
}

// producer := id epoch last_sequence state:1 max_event_time asserted spoken:1
//             accepted rejected late source_position count (digest:8 ack)*
void ProducerTable::Save(Encoder* out, const ProducerState& producer) const {
  const ProducerInfo& info = producer.info;
  out->String(info.id);
  out->Signed(info.epoch);
  out->Signed(info.last_sequence);
  out->Byte(static_cast<uint8_t>(info.source_state));
  out->Signed(info.max_event_time);
  out->Signed(producer.asserted);
  out->Byte(producer.spoken);
  out->Signed(info.accepted);
  out->Signed(info.rejected);
  out->Signed(info.late);
  out->String(info.source_position);
  out->Varint(producer.answers.size());
  for (const ProducerState::Answer& answer : producer.answers) {
    out->Fixed64(answer.digest);
    SaveAck(answer.ack, out);
  }
}

bool ProducerTable::Load(Decoder* in) {
  ProducerState* producer = FindOrAdd(in->String());
  ProducerInfo& info = producer->info;
  info.epoch = in->Signed();
  info.last_sequence = in->Signed();
  const SourceState state = static_cast<SourceState>(
      in->Enum(static_cast<uint8_t>(SourceState::kActive),
               static_cast<uint8_t>(SourceState::kDone)));
  const TimeUs max_event_time = in->Signed();
  const TimeUs asserted = in->Signed();
  const bool spoken = in->Enum(0, 1) != 0;
  info.accepted = in->Signed();
  info.rejected = in->Signed();
  info.late = in->Signed();
  info.source_position = std::string(in->String());
  for (uint64_t n = in->Count(8); n > 0; --n) {
    ProducerState::Answer answer;
    answer.digest = in->Fixed64();
    LoadAck(in, &answer.ack);
    producer->answers.push_back(answer);
  }
  const bool sound =
      max_event_time == kNoWatermark ||
      (max_event_time >= kMinEventTime && max_event_time <= kMaxEventTime);
  if (!in->ok() || !sound) return false;
  Update(producer, max_event_time, asserted, spoken, state);
  return true;
}

}  // namespace casement::engine
