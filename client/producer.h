// Sends events to a stream, each counted exactly once. What this is for: all
// that lies between a program's events and durable, numbered batches: opening,
// batching, several batches in flight, reconnecting and resending when the
// connection breaks or the server is killed and started again. The one
// invariant: batches go out in order under sequences without gaps, and one is
// forgotten only when the server has said that it is durable.
//
//   auto channel = casement::client::MakeChannel("127.0.0.1:7077");
//   auto producer = casement::client::Producer::Open(
//       channel, {.stream = "flights", .producer_id = "airport-feed"});
//   if (!producer.ok()) ...
//   (*producer)->Add(Event(absl::Now()).Set("origin", "LAS")).IgnoreError();
//   absl::Status status = (*producer)->Close();
//
// A program that reads a file or a log gives the place in it with each event;
// after a restart `resumed_position` tells where to go on, and nothing is lost
// or counted twice:
//
//   reader.Seek((*producer)->resumed_position());
//   while (reader.Next(&line)) producer->Add(Parse(line), reader.position());

#ifndef CASEMENT_CLIENT_PRODUCER_H_
#define CASEMENT_CLIENT_PRODUCER_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/backoff.h"
#include "client/batch_builder.h"
#include "client/send_queue.h"

namespace casement::client {

struct ProducerOptions {
  // Required. "flights" or "streams/flights".
  std::string stream = {};
  // Required. This source's own name, kept across its restarts. Opening it
  // shuts out whoever had it open before.
  std::string producer_id = {};
  // If set, Open succeeds only while the producer's epoch is this one.
  std::optional<int64_t> expected_epoch = {};

  BatchForm form = BatchForm::kColumns;
  v1::Durability durability = v1::DURABILITY_SYNCED;
  v1::Report report = v1::REPORT_COUNTS;

  // A batch is sent when it has this many events, or the bytes that the server
  // takes, or has waited for `linger`. Infinite: only when full, or by Flush;
  // then how events are cut into batches does not depend on speed. The server
  // may tell less.
  int max_batch_events = 4096;
  absl::Duration linger = absl::Milliseconds(100);
  // Batches sent and not acknowledged; Add blocks beyond it. 0: as many as the
  // server allows.
  int max_in_flight_batches = 0;

  // How long Open tries to reach the server.
  absl::Duration open_timeout = absl::Seconds(30);
  // How long a broken connection may last until the producer fails.
  absl::Duration give_up_after = absl::Minutes(10);
  BackoffOptions backoff = {};

  // Called for each acknowledged batch, in order, from a thread of the
  // producer's; of the producer it may call totals only.
  std::function<void(const BatchReport&)> on_batch = {};
  // The server refused a whole batch and always will (a stream with
  // REJECT_BATCH, a malformed batch). True: leave it out and go on. False, or
  // not set: the producer fails with this status. From a thread of the
  // producer's.
  std::function<bool(const BatchReport&, const absl::Status&)> on_refused = {};
  // Called when the connection broke and will be tried again, with what broke
  // it; and with OK when it is back. From a thread of the producer's.
  std::function<void(const absl::Status&)> on_connection = {};
};

// What was acknowledged since Open. received = accepted + rejected +
// duplicate; late events are among the accepted.
struct ProducerTotals {
  int64_t batches = 0;
  int64_t received_events = 0;
  int64_t accepted_events = 0;
  int64_t late_events = 0;
  int64_t rejected_events = 0;
  int64_t duplicate_events = 0;
  // Batches that the server had already: sent again after a break.
  int64_t duplicate_batches = 0;
  // Events of batches that on_refused left out; not among the received.
  int64_t refused_events = 0;
  // Added, but not acknowledged yet.
  int64_t pending_events = 0;
  // Times that the connection broke.
  int64_t breaks = 0;
  // Reads at this version see every acknowledged event.
  int64_t version = 0;
  // The stream's, as of the last acknowledged batch.
  v1::Progress progress;
};

// Thread-safe. Add may be called from several threads; they then share one
// order.
class Producer {
 public:
  // Opens the producer: raises its epoch, so whoever held it is refused from
  // then on.
  static absl::StatusOr<std::unique_ptr<Producer>> Open(
      std::shared_ptr<grpc::Channel> channel, ProducerOptions options);

  // Gives up what was not acknowledged; call Flush or Close before.
  ~Producer();
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  // "streams/{stream}/producers/{producer}".
  const std::string& name() const;
  int64_t epoch() const;
  // The position given with the last event that was durable before Open;
  // empty if there was none. Go on right after it.
  const std::string& resumed_position() const;
  // The sequence of the last batch that was durable before Open.
  int64_t resumed_sequence() const;
  // The stream as it was when the producer was opened: its fields.
  const v1::Stream& stream() const;

  // Puts one event into the present batch; blocks while as many batches as
  // allowed are on their way. `position` (at most 1 KiB) says where the
  // program's own input stands after this event; it becomes durable together
  // with it. INVALID_ARGUMENT: no batch can hold the event; the producer goes
  // on without it. Any other error is final.
  absl::Status Add(const Event& event, absl::string_view position = "");

  // Sends a batch that was made elsewhere (by a ColumnBuilder). Its sequence
  // is set here. Events added before go first.
  absl::Status Send(v1::Batch batch);

  // Says that no event with an earlier time follows. Takes effect after the
  // events added before.
  absl::Status AssertWatermark(absl::Time time);
  // IDLE: do not wait for this producer until it speaks again. DONE: it has
  // left. (The end of the stream is DefinitionService.EndStream.)
  absl::Status SetState(v1::SourceState state);

  // Sends what was added, and waits until all of it is durable.
  absl::Status Flush();
  // Flush, then the explicit end of the call, with the last sequence. Nothing
  // can be added any more.
  absl::Status Close();

  ProducerTotals totals() const;
  // OK, or the final error.
  absl::Status status() const;

 private:
  class Impl;
  explicit Producer(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace casement::client

#endif  // CASEMENT_CLIENT_PRODUCER_H_
