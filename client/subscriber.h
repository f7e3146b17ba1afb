// Follows the results of a view. What this is for: results as they come, over
// broken connections and restarts of the server, without a gap. The one
// invariant: it resumes from the cursor of the last response that the callback
// took, so each response of the log is handed out in order and, as long as the
// program runs, once.
//
//   casement::client::Subscriber subscriber(channel,
//                                           {.view = "flights/daily"});
//   absl::Status status = subscriber.Run([](const auto& response) {
//     for (const auto& row : response.results().results()) Use(row);
//     return true;  // Go on.
//   });
//
// A program that must go on where it stopped stores `response.cursor()`
// together with what it made of the response, and passes it as
// `SubscriberOptions::cursor` the next time.

#ifndef CASEMENT_CLIENT_SUBSCRIBER_H_
#define CASEMENT_CLIENT_SUBSCRIBER_H_

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "casement/v1/result.grpc.pb.h"
#include "client/backoff.h"

namespace casement::client {

struct SubscriberOptions {
  // Required. "flights/daily" or "streams/flights/views/daily".
  std::string view = {};
  // Where to start: after this cursor, if it is set; else from the oldest
  // result that is kept, or only with what comes from now on.
  std::string cursor = {};
  v1::Position position = v1::POSITION_OLDEST;
  // Empty: all. RETRACTED rows come where the rows they take back came.
  std::vector<v1::Finality> finalities = {};
  // Unset: the server's default (10 s).
  std::optional<absl::Duration> heartbeat_interval = {};
  // 0: the server's default (256 KiB).
  int max_response_bytes = 0;

  // How long the server may be away until Run fails.
  absl::Duration give_up_after = absl::Minutes(10);
  BackoffOptions backoff = {};
  // Called when the connection broke and will be tried again, with what broke
  // it; and with OK when it is back. From the thread that is in Run.
  std::function<void(const absl::Status&)> on_connection = {};
};

class Subscriber {
 public:
  // False ends Run.
  using Callback = std::function<bool(const v1::SubscribeResponse&)>;

  Subscriber(std::shared_ptr<grpc::Channel> channel, SubscriberOptions options);

  // Hands out every response, also Opened, Synced and Heartbeat, until the
  // callback returns false or Stop is called (OK), or until an error that
  // trying again does not help (a cursor that is not this view's, no such
  // view). Blocks; the callback runs in this thread. Responses of kinds that
  // this client does not know are handed out too: their cursors count.
  absl::Status Run(const Callback& callback);

  // Ends Run from another thread, or from the callback. Run can't be used
  // again then.
  void Stop();

  // Of the last response that the callback took (also the one that it
  // returned false for). Empty before the first.
  const std::string& cursor() const { return cursor_; }
  // Times that the connection broke.
  int64_t breaks() const { return breaks_; }

 private:
  // OK: the callback or Stop ended it.
  absl::Status RunOnce(const std::string& view, const Callback& callback);
  v1::SubscribeRequest Request(const std::string& view) const;

  const SubscriberOptions options_;
  const std::unique_ptr<v1::ResultService::StubInterface> stub_;
  std::string cursor_;
  int64_t breaks_ = 0;
  bool broken_ = false;
  // Whether the last call brought anything.
  bool progress_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  grpc::ClientContext* context_ = nullptr;
};

}  // namespace casement::client

#endif  // CASEMENT_CLIENT_SUBSCRIBER_H_
