// The threads of a producer: calls, one after the other.

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/producer_impl.h"
#include "client/status.h"

namespace casement::client {

void Producer::Impl::Run() {
  Backoff backoff(options_.backoff);
  while (WaitForWork()) {
    if (!Recover(MakeCall(), backoff)) return;
  }
}

// A producer that has nothing to say needs no call, and a server that is away
// does not trouble it.
bool Producer::Impl::WaitForWork() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] {
    return stopping_ || closing_ || !error_.ok() || !queue_.empty() ||
           linger_until_ != absl::InfiniteFuture();
  });
  return !stopping_ && !closed_ && error_.ok();
}

Producer::Impl::CallEnd Producer::Impl::MakeCall() {
  AppendCall call(*stub_);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    // From here on the destructor can cancel it.
    if (stopping_) call.Cancel();
    call_ = &call;
    call_ended_ = false;
  }
  CallEnd end;
  const absl::StatusOr<int64_t> server_last = call.Open(
      opened_.name(), opened_.epoch(), options_.durability, options_.report);
  end.status = server_last.status();
  if (server_last.ok()) {
    bool was_broken = false;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      was_broken = std::exchange(broken_, false);
      const absl::Status status = queue_.Rewind(*server_last);
      if (!status.ok()) Fail(status);
    }
    if (was_broken && options_.on_connection) {
      options_.on_connection(absl::OkStatus());
    }
    std::thread reader([&] { end = ReadAnswers(call); });
    SendBatches(call);
    reader.join();
    const absl::Status status = call.Finish();
    // What the reader found wrong is why it cancelled the call.
    if (end.status.ok()) end.status = status;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  call_ = nullptr;
  // A refused batch was left out, which ended the call; what ended it since
  // is of no interest.
  if (std::exchange(left_out_, false)) return {absl::OkStatus()};
  if (end.status.ok()) {
    closed_ = true;
    changed_.notify_all();
  }
  return end;
}

void Producer::Impl::SendBatches(AppendCall& call) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!call_ended_ && !stopping_ && error_.ok()) {
    const bool lingers = linger_until_ != absl::InfiniteFuture();
    if (lingers && HasRoom() && absl::Now() >= linger_until_) Cut();
    if (const auto request = queue_.Next(in_flight_)) {
      lock.unlock();
      const bool written = call.Write(*request);
      lock.lock();
      // The call is broken. It is not cancelled: answers on their way are
      // still read.
      if (!written) return;
    } else if (closing_ && queue_.empty()) {
      const int64_t last = queue_.last_acked();
      lock.unlock();
      call.Close(last);
      return;
    } else if (lingers && HasRoom()) {
      changed_.wait_until(lock, absl::ToChronoTime(linger_until_));
    } else {
      changed_.wait(lock);
    }
  }
  // A call that has ended keeps the status that the server gave it.
  if (!call_ended_) call.Cancel();
}

Producer::Impl::CallEnd Producer::Impl::ReadAnswers(AppendCall& call) {
  v1::AppendStreamResponse response;
  CallEnd end;
  bool ended = false;
  while (!ended && call.Read(&response)) {
    if (response.has_committed()) {
      end.status = OnCommitted(response.committed());
      ended = !end.status.ok();
    } else if (response.has_failed()) {
      end = OnFailed(response.failed());
      ended = true;
    }
    // Anything else is from a newer server, and tells nothing needed here.
  }
  // After a failure a new call starts from a clean state: here it can't be
  // told which of the batches on their way the server has passed over.
  if (ended) call.Cancel();
  std::lock_guard<std::mutex> lock(mutex_);
  call_ended_ = true;
  changed_.notify_all();
  return end;
}

absl::Status Producer::Impl::OnCommitted(
    const v1::AppendStreamResponse::Committed& committed) {
  absl::StatusOr<std::vector<BatchReport>> reports;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    reports = queue_.Acknowledge(committed);
    if (!reports.ok()) {
      Fail(reports.status());
      return reports.status();
    }
    for (const BatchReport& report : *reports) Count(report);
    totals_.version = std::max(totals_.version, committed.version());
    totals_.progress = committed.progress();
    stuck_since_ = absl::Now();
    acked_since_break_ = true;
    changed_.notify_all();  // There is room for more.
  }
  if (options_.on_batch) {
    for (const BatchReport& report : *reports) options_.on_batch(report);
  }
  std::lock_guard<std::mutex> lock(mutex_);
  reported_ = queue_.last_acked();
  changed_.notify_all();
  return absl::OkStatus();
}

Producer::Impl::CallEnd Producer::Impl::OnFailed(
    const v1::AppendStreamResponse::Failed& failed) {
  CallEnd end{FromRpcStatus(failed.status())};
  if (end.status.ok()) {
    end.status = absl::InternalError("the server failed a batch without error");
  }
  if (failed.has_retry_delay()) {
    end.wait = absl::Seconds(failed.retry_delay().seconds()) +
               absl::Nanoseconds(failed.retry_delay().nanos());
    // Waiting helps, whatever the code is.
    end.status = absl::UnavailableError(end.status.message());
    return end;
  }
  const std::string reason = ErrorReason(end.status);
  // A reused sequence is no fault of the batch's: two programs share a name.
  if (!absl::IsInvalidArgument(end.status) || reason == "SEQUENCE_REUSED") {
    return end;
  }
  absl::StatusOr<BatchReport> report;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    report = queue_.Peek(failed.sequence());
  }
  if (!report.ok() || !options_.on_refused ||
      !options_.on_refused(*report, end.status)) {
    return end;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  queue_.Drop(failed.sequence()).IgnoreError();  // It was there just now.
  totals_.refused_events += report->events;
  stuck_since_ = absl::Now();
  left_out_ = true;
  return {absl::OkStatus()};
}

bool Producer::Impl::Recover(const CallEnd& end, Backoff& backoff) {
  absl::Duration wait = end.wait;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_ || closed_ || !error_.ok()) return false;
    if (end.status.ok()) return true;
    const std::string reason = ErrorReason(end.status);
    // A gap can only come from batches that were lost on their way.
    if (!IsTransient(end.status) && reason != "SEQUENCE_GAP" &&
        reason != "NOT_CLOSED") {
      Fail(end.status);
      return false;
    }
    const bool idle = queue_.empty() && !closing_;
    if (!idle && absl::Now() - stuck_since_ > options_.give_up_after) {
      Fail(absl::Status(
          end.status.code(),
          absl::StrCat("gave up after ",
                       absl::FormatDuration(options_.give_up_after), ": ",
                       end.status.message())));
      return false;
    }
    broken_ = true;
    ++totals_.breaks;
    if (std::exchange(acked_since_break_, false)) backoff.Reset();
    wait = std::max({wait, backoff.Next(),
                     GetErrorDetails(end.status)
                         .retry_delay.value_or(absl::ZeroDuration())});
  }
  if (options_.on_connection) options_.on_connection(end.status);
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, absl::ToChronoNanoseconds(wait),
                    [this] { return stopping_; });
  return !stopping_;
}

}  // namespace casement::client
