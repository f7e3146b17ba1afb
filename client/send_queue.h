// The batches that a producer has cut and the server has not acknowledged.
// What this is for: sequences, resending, and matching answers to batches; no
// threads and no gRPC in it. The one invariant: it holds, in order and without
// a gap, exactly the batches after the last acknowledged one, so whatever a
// broken connection lost can be sent again.

#ifndef CASEMENT_CLIENT_SEND_QUEUE_H_
#define CASEMENT_CLIENT_SEND_QUEUE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "casement/v1/ingest.pb.h"
#include "client/batch_builder.h"

namespace casement::client {

// What became of one batch.
struct BatchReport {
  int64_t sequence = 0;
  int64_t events = 0;
  // The tags of its events, in order: tags[i] is that of the event with index
  // i in `ack`. Empty for a batch that was given ready-made.
  std::vector<int64_t> tags;
  // Complete: where the server had nothing to tell, all events were accepted.
  v1::BatchAck ack;
};

// Not thread-safe.
class SendQueue {
 public:
  explicit SendQueue(int64_t last_sequence) : last_acked_(last_sequence) {}

  // Numbers the batch and puts it at the end.
  void Push(BuiltBatch batch);

  // The next batch to send, or null: nothing waits, or `max_in_flight` are
  // sent and unacknowledged. It counts as sent then.
  std::shared_ptr<const v1::AppendStreamRequest> Next(int max_in_flight);

  // A new call: everything unacknowledged is to be sent again, also what the
  // server says it has. A repeat is not counted again but answered as before,
  // and the answer to it is what the broken connection lost. INTERNAL or
  // DATA_LOSS if `server_last` can't be: the server lost acknowledged batches,
  // or has some that were never sent.
  absl::Status Rewind(int64_t server_last);

  // All batches up to `committed.through_sequence` are durable: hands out
  // their reports, in order. INTERNAL if it names a batch that was never sent.
  absl::StatusOr<std::vector<BatchReport>> Acknowledge(
      const v1::AppendStreamResponse::Committed& committed);

  // Takes out a batch that the server refused and so gave no sequence; those
  // after it take over its place. NOT_FOUND if it isn't here.
  absl::StatusOr<BatchReport> Drop(int64_t sequence);
  // The report of a waiting batch, without an answer.
  absl::StatusOr<BatchReport> Peek(int64_t sequence) const;

  bool empty() const { return pending_.empty(); }
  int64_t size() const { return static_cast<int64_t>(pending_.size()); }
  bool all_sent() const { return sent_ == pending_.size(); }
  int64_t events() const { return events_; }
  int64_t last_acked() const { return last_acked_; }
  int64_t last_assigned() const { return last_acked_ + size(); }

 private:
  struct Pending {
    std::shared_ptr<v1::AppendStreamRequest> request;
    int64_t events = 0;
    std::vector<int64_t> tags;
  };

  std::deque<Pending> pending_;
  size_t sent_ = 0;  // Of `pending_`, from its front, on the present call.
  int64_t last_acked_;
  int64_t events_ = 0;
};

}  // namespace casement::client

#endif  // CASEMENT_CLIENT_SEND_QUEUE_H_
