// The batches of an AppendStream between their reading and their
// acknowledgement: answers come from the runtime in any order and go out in the
// order of the batches. A batch that fails blocks those after it: they get no
// answer, until the producer goes back to it.
//
// Worked example: 5, 6, 7 are taken; 6 fails. Committed{5} and Failed{6} go
// out; whatever became of 7 is told to nobody, and an 8 that is read now is
// dropped. Then 6 comes again: 6, 7, 8 are taken as new ones.
//
// Not thread-safe.
#ifndef CASEMENT_SERVER_RPC_IN_FLIGHT_BATCHES_H_
#define CASEMENT_SERVER_RPC_IN_FLIGHT_BATCHES_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "casement/v1/ingest.pb.h"
#include "server/runtime/runtime.h"

namespace casement::rpc {

class InFlightBatches {
 public:
  // `committed` is the producer's last durable sequence.
  void Open(int64_t committed, bool fates);

  // Names a batch that was read and is to be handed on; nothing if it is to be
  // dropped.
  std::optional<uint64_t> Take(int64_t sequence);
  // What became of it.
  void Answer(uint64_t ticket, absl::StatusOr<runtime::AppendResult> answer);

  // The next response, if there is something to say. Written() follows before
  // the next Compose.
  bool Compose(v1::AppendStreamResponse* response);
  void Written() { being_written_ = 0; }

  // Batches whose acknowledgement has not been written.
  size_t unacknowledged() const {
    return batches_.size() + outgoing_.size() + being_written_;
  }
  // All is answered and said.
  bool idle() const { return unacknowledged() == 0; }
  bool blocked() const { return blocked_at_.has_value(); }
  // All up to here are durable.
  int64_t committed() const { return committed_; }
  // An error that no other batch can mend: it ends the call.
  const absl::Status& fatal() const { return fatal_; }

 private:
  struct Batch {
    int64_t sequence;
    uint64_t generation;
    std::optional<absl::StatusOr<runtime::AppendResult>> answer;
  };
  struct Ack {
    int64_t through_sequence;
    engine::Version version;
    engine::Progress progress;
    std::unique_ptr<v1::BatchAck> notable;
  };
  using Outgoing = std::variant<Ack, v1::AppendStreamResponse::Failed>;

  void Settle(const Batch& batch);
  void Fail(int64_t sequence, const absl::Status& status);

  bool fates_ = false;
  int64_t committed_ = 0;
  engine::Version version_ = 0;
  engine::Progress progress_;
  absl::Status fatal_;
  std::optional<int64_t> blocked_at_;
  uint64_t generation_ = 0;  // rises when a block is lifted

  uint64_t first_ticket_ = 0;  // of batches_.front()
  std::deque<Batch> batches_;  // in the order of reading
  std::deque<Outgoing> outgoing_;
  size_t being_written_ = 0;
};

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_IN_FLIGHT_BATCHES_H_
