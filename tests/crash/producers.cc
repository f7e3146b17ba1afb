#include "tests/crash/producers.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "tests/crash/input.h"
#include "tests/crash/views.h"
#include "tests/support/rpc.h"

namespace casement::stress {
namespace {

constexpr int64_t kInFlight = 16;
// For a server that hangs: far beyond what any start takes.
constexpr std::chrono::seconds kDeadline(180);

constexpr std::chrono::milliseconds kPatience(200);

}  // namespace

ProducerBase::ProducerBase(Ingest& ingest, int number)
    : ingest_(ingest),
      number_(number),
      name_(absl::StrCat(kStream, "/producers/", kProducerIds[number])),
      stub_(v1::IngestService::NewStub(ingest.channel)),
      random_(ingest.seed + number) {}

void ProducerBase::Fault(const std::string& what) {
  ingest_.faults.Add(absl::StrCat(name_, ": ", what));
}

bool ProducerBase::WillBeBack(const std::string& what,
                              const grpc::Status& status) {
  if (ingest_.faults.any()) return false;
  if (status.error_code() == grpc::UNAVAILABLE) {
    ingest_.channel->WaitForConnected(std::chrono::system_clock::now() +
                                      kPatience);
    return true;
  }
  Fault(absl::StrCat(what, ": ", support::Describe(status)));
  return false;
}

bool ProducerBase::Open() {
  v1::OpenProducerRequest request;
  request.set_stream(kStream);
  request.set_producer_id(kProducerIds[number_]);
  while (true) {
    v1::OpenProducerResponse response;
    const grpc::Status status = support::Call(
        *stub_, &v1::IngestService::Stub::OpenProducer, request, &response);
    if (!status.ok()) {
      if (!WillBeBack("OpenProducer", status)) return false;
      continue;
    }
    if (response.epoch() <= epoch_) {
      Fault(absl::StrCat("epoch ", response.epoch(), " comes after ", epoch_));
      return false;
    }
    if (response.last_sequence() < acked_ || response.last_sequence() > sent_) {
      Fault(absl::StrCat("opened at sequence ", response.last_sequence(),
                         ", but ", acked_, " was acknowledged and ", sent_,
                         " sent"));
      return false;
    }
    epoch_ = response.epoch();
    return true;
  }
}

void ProducerBase::CheckAck(const v1::BatchAck& ack) {
  if (ack.duplicate()) {
    ++ingest_.duplicates;
    return;
  }
  if (ack.accepted_events() != kEventsPerBatch || ack.late_events() != 0) {
    Fault(absl::StrCat("every event is good and on time, but the answer is ",
                       ack.ShortDebugString()));
  }
}

void RowProducer::Run() {
  if (!Open()) return;
  for (int64_t sequence = 1;
       ingest_.pace.MaySend(number_, sequence, /*wait=*/true); ++sequence) {
    if (!Send(sequence)) return;
  }
}

bool RowProducer::Send(int64_t sequence) {
  v1::AppendBatchRequest request;
  request.set_producer(name_);
  request.mutable_batch()->set_sequence(sequence);
  *request.mutable_batch()->mutable_rows() =
      ToRows(InputBatch(ingest_.seed, number_, sequence));
  while (true) {
    request.set_epoch(epoch_);
    if (sequence <= sent_) ++ingest_.resent;
    sent_ = sequence;
    v1::AppendBatchResponse response;
    const int64_t known_before = ingest_.watch.Known();
    const grpc::Status status = support::Call(
        *stub_, &v1::IngestService::Stub::AppendBatch, request, &response);
    if (status.ok()) {
      CheckAck(response.ack());
      // A repeat is answered as it was then.
      if (!response.ack().duplicate()) {
        ingest_.watch.Saw(name_, known_before, response.ack().progress());
      }
      acked_ = sequence;
      ingest_.pace.Acked(number_, acked_);
      return true;
    }
    if (!WillBeBack("AppendBatch", status)) return false;
    // The epoch outlives the server, but a producer may also come back anew.
    if (random_() % 4 == 0 && !Open()) return false;
  }
}

void ColumnProducer::Run() {
  if (!Open()) return;
  while (true) {
    switch (RunCall()) {
      case Ended::kDone:
      case Ended::kFault:
        return;
      case Ended::kBroken:
        if (random_() % 4 == 0 && !Open()) return;
        break;
    }
  }
}

ColumnProducer::Ended ColumnProducer::RunCall() {
  // Without waiting for the server: it fails at once and is tried again.
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kDeadline);
  closed_ = false;
  auto call = stub_->AppendStream(&context);
  if (!Greet(*call)) return Finish(*call);
  while (true) {
    if (next_ - acked_ <= kInFlight &&
        ingest_.pace.MaySend(number_, next_, /*wait=*/next_ == acked_ + 1)) {
      if (!WriteBatch(*call, next_)) return Finish(*call);
      ++next_;
      continue;
    }
    if (next_ > acked_ + 1) {
      if (!ReadAck(*call)) return Finish(*call);
      continue;
    }
    if (ingest_.pace.Ended(number_, next_)) return Close(*call);
  }
}

bool ColumnProducer::Greet(Call& call) {
  known_before_ = ingest_.watch.Known();
  v1::AppendStreamRequest request;
  request.mutable_open()->set_producer(name_);
  request.mutable_open()->set_epoch(epoch_);
  if (!call.Write(request)) return false;
  v1::AppendStreamResponse response;
  if (!call.Read(&response)) return false;
  const int64_t last = response.opened().last_sequence();
  if (!response.has_opened() || last < acked_ || last > sent_) {
    Fault(absl::StrCat("greeted with ", response.ShortDebugString(), ", but ",
                       acked_, " was acknowledged and ", sent_, " sent"));
    faulty_ = true;
    return false;
  }
  // What the server has need not be sent again; but a producer that has only
  // its own acknowledgements to go by does, and is answered.
  if (random_() % 2 == 0) {
    acked_ = last;
    ingest_.pace.Acked(number_, acked_);
  }
  next_ = acked_ + 1;
  return true;
}

bool ColumnProducer::WriteBatch(Call& call, int64_t sequence) {
  v1::AppendStreamRequest request;
  request.mutable_batch()->set_sequence(sequence);
  *request.mutable_batch()->mutable_columns() =
      ToColumns(InputBatch(ingest_.seed, number_, sequence));
  if (sequence <= sent_) ++ingest_.resent;
  sent_ = std::max(sent_, sequence);
  return call.Write(request);
}

bool ColumnProducer::ReadAck(Call& call) {
  v1::AppendStreamResponse response;
  if (!call.Read(&response)) return false;
  const int64_t through = response.committed().through_sequence();
  if (!response.has_committed() || through < acked_ || through > sent_) {
    Fault(absl::StrCat("after ", acked_, " was acknowledged and ", sent_,
                       " sent came ", response.ShortDebugString()));
    faulty_ = true;
    return false;
  }
  bool repeat = false;
  for (const v1::BatchAck& ack : response.committed().notable()) {
    CheckAck(ack);
    repeat = repeat || ack.duplicate();
  }
  // A repeat is answered as it was then.
  if (!repeat) {
    ingest_.watch.Saw(name_, known_before_, response.committed().progress());
    known_before_ = WatermarkOf(response.committed().progress());
  }
  acked_ = through;
  next_ = std::max(next_, acked_ + 1);
  ingest_.pace.Acked(number_, acked_);
  return true;
}

ColumnProducer::Ended ColumnProducer::Close(Call& call) {
  v1::AppendStreamRequest request;
  request.mutable_close()->set_last_sequence(acked_);
  closed_ = true;
  call.Write(request);
  return Finish(call);
}

ColumnProducer::Ended ColumnProducer::Finish(Call& call) {
  call.WritesDone();
  v1::AppendStreamResponse more;
  while (call.Read(&more)) {
    if (!closed_) continue;
    Fault(absl::StrCat("after the close came ", more.ShortDebugString()));
    faulty_ = true;
  }
  const grpc::Status status = call.Finish();
  if (faulty_) return Ended::kFault;
  if (status.ok()) {
    if (closed_) return Ended::kDone;
    Fault("AppendStream ended with OK before it was closed");
    return Ended::kFault;
  }
  return WillBeBack("AppendStream", status) ? Ended::kBroken : Ended::kFault;
}

}  // namespace casement::stress
