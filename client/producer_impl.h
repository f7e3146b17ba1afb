// The inside of Producer. What this is for: callers put batches into a queue;
// one thread makes AppendStream calls one after the other and sends from the
// queue, and each call has a thread that reads its answers. The one invariant:
// these meet under `mutex_` only, which is never held across anything that
// blocks on the network or calls out.

#ifndef CASEMENT_CLIENT_PRODUCER_IMPL_H_
#define CASEMENT_CLIENT_PRODUCER_IMPL_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "casement/v1/ingest.grpc.pb.h"
#include "client/append_call.h"
#include "client/producer.h"

namespace casement::client {

class Producer::Impl {
 public:
  Impl(std::unique_ptr<v1::IngestService::StubInterface> stub,
       ProducerOptions options, v1::Stream stream,
       v1::OpenProducerResponse opened);
  ~Impl();

  // As Producer's; see there.
  absl::Status Add(const Event& event, absl::string_view position);
  absl::Status Send(v1::Batch batch);
  absl::Status Flush();
  absl::Status Close();
  ProducerTotals totals() const;
  absl::Status status() const;

  const v1::OpenProducerResponse& opened() const { return opened_; }
  const v1::Stream& stream() const { return stream_; }

 private:
  // How a call ended.
  struct CallEnd {
    absl::Status status;
    // The server asks for this much patience.
    absl::Duration wait = absl::ZeroDuration();
  };

  // For callers, with the mutex held (producer.cc).
  absl::Status CheckOpen() const;
  bool HasRoom() const { return queue_.size() < in_flight_; }
  // True if there was room at once; false after a wait, when everything may be
  // otherwise.
  bool WaitForRoom(std::unique_lock<std::mutex>& lock);
  void StartLinger();
  void Cut();
  void Push(BuiltBatch batch);
  absl::Status FlushLocked(std::unique_lock<std::mutex>& lock);
  void Fail(absl::Status status);
  void Count(const BatchReport& report);

  // The threads (producer_calls.cc).
  void Run();
  bool WaitForWork();
  CallEnd MakeCall();
  void SendBatches(AppendCall& call);
  CallEnd ReadAnswers(AppendCall& call);
  absl::Status OnCommitted(
      const v1::AppendStreamResponse::Committed& committed);
  CallEnd OnFailed(const v1::AppendStreamResponse::Failed& failed);
  // False: the end. True: make another call.
  bool Recover(const CallEnd& end, Backoff& backoff);

  const ProducerOptions options_;
  const v1::Stream stream_;
  const v1::OpenProducerResponse opened_;
  const std::unique_ptr<v1::IngestService::StubInterface> stub_;
  const int in_flight_;

  mutable std::mutex mutex_;
  // Anything below changed.
  std::condition_variable changed_;
  BatchBuilder builder_;
  absl::Time linger_until_ = absl::InfiniteFuture();
  SendQueue queue_;
  // Batches up to here were told to on_batch.
  int64_t reported_;
  ProducerTotals totals_;
  absl::Status error_;
  bool closing_ = false;   // Close was called, all is acknowledged.
  bool closed_ = false;    // And the server has said OK to it.
  bool stopping_ = false;  // The destructor runs.
  // The present call; null between calls.
  AppendCall* call_ = nullptr;
  bool call_ended_ = false;
  bool left_out_ = false;  // It ended because a refused batch was left out.
  bool broken_ = false;    // The last call broke, and none was opened since.
  bool acked_since_break_ = false;
  // Since when there is something to do and no batch was acknowledged.
  absl::Time stuck_since_ = absl::InfiniteFuture();

  std::thread thread_;
};

}  // namespace casement::client

#endif  // CASEMENT_CLIENT_PRODUCER_IMPL_H_
