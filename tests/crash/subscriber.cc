#include "tests/crash/subscriber.h"

#include <grpcpp/client_context.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/crash/times.h"
#include "tests/crash/watermark_watch.h"
#include "tests/support/rpc.h"

namespace casement::stress {
namespace {

// For a server that hangs: far beyond what a whole run takes.
constexpr std::chrono::minutes kDeadline(30);
constexpr std::chrono::milliseconds kPatience(200);
constexpr int64_t kHeartbeatUs = 200'000;

}  // namespace

Subscriber::Subscriber(Habit habit, ViewKind view,
                       std::shared_ptr<grpc::Channel> channel,
                       const std::atomic<int64_t>& end_version, Faults& faults)
    : habit_(std::move(habit)),
      view_(view),
      name_(absl::StrCat(habit_.name, " of ", ViewId(view))),
      channel_(std::move(channel)),
      stub_(v1::ResultService::NewStub(channel_)),
      end_version_(end_version),
      faults_(faults) {}

void Subscriber::Fault(const std::string& what) {
  faults_.Add(absl::StrCat(name_, ": ", what));
}

bool Subscriber::Done() const {
  const int64_t end = end_version_.load();
  return end > 0 && served_version_ >= end;
}

void Subscriber::Run() {
  Ended ended = Ended::kBroken;
  while (ended == Ended::kBroken && !faults_.any()) {
    // Fails at once while the server is away; this waits, and asks again.
    channel_->WaitForConnected(std::chrono::system_clock::now() + kPatience);
    ended = RunCall();
  }
}

Subscriber::Ended Subscriber::RunCall() {
  // What came after the kept cursor comes again.
  expected_again_.merge(since_kept_);
  since_kept_.clear();
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kDeadline);
  v1::SubscribeRequest request;
  request.set_view(ViewName(view_));
  if (cursor_.empty()) {
    request.set_position(v1::POSITION_OLDEST);
  } else {
    request.set_cursor(cursor_);
  }
  if (habit_.finals_only) request.add_finalities(v1::FINALITY_FINAL);
  request.set_max_response_bytes(habit_.max_response_bytes);
  *request.mutable_heartbeat_interval() = ToDuration(kHeartbeatUs);
  auto call = stub_->Subscribe(&context, request);
  v1::SubscribeResponse response;
  served_version_ = 0;
  while (!faults_.any() && !Done() && call->Read(&response)) Read(response);
  const bool done = Done();
  context.TryCancel();
  while (call->Read(&response)) {
  }
  const grpc::Status status = call->Finish();
  if (faults_.any()) return Ended::kFault;
  if (done) return Ended::kDone;
  if (status.error_code() == grpc::UNAVAILABLE ||
      // Our own, on a call that had broken already.
      status.error_code() == grpc::CANCELLED) {
    return Ended::kBroken;
  }
  Fault(absl::StrCat("Subscribe: ", support::Describe(status)));
  return Ended::kFault;
}

void Subscriber::Read(const v1::SubscribeResponse& response) {
  if (response.cursor().empty()) Fault("a response without a cursor");
  if (response.served_version() < served_version_) {
    Fault(absl::StrCat("served_version goes back from ", served_version_,
                       " to ", response.served_version()));
  }
  served_version_ = response.served_version();
  for (const v1::WindowResult& row : response.results().results()) {
    ReadRow(row);
  }
  if (response.has_opened()) {
    ++calls_;
    head_us_ =
        std::max(head_us_, WatermarkOf(response.opened().head_progress()));
  } else if (response.has_heartbeat()) {
    ReadProgress(response.heartbeat().progress(),
                 response.heartbeat().head_progress());
  } else if (response.has_synced()) {
    ReadProgress(response.synced().progress(), response.synced().progress());
  }
  if (++responses_since_kept_ >= habit_.keep_every) {
    KeepCursor(response.cursor());
  }
}

void Subscriber::KeepCursor(const std::string& cursor) {
  cursor_ = cursor;
  responses_since_kept_ = 0;
  since_kept_.clear();
}

void Subscriber::ReadProgress(const v1::Progress& served,
                              const v1::Progress& head) {
  const int64_t head_us = WatermarkOf(head);
  if (head_us < head_us_) {
    Fault(absl::StrCat("the view's watermark goes back from ", head_us_, " to ",
                       head_us));
  }
  head_us_ = head_us;
  const int64_t served_us = WatermarkOf(served);
  if (served_us > head_us) Fault("progress is ahead of the view's own");
  // There is no allowed lateness: the two are the same.
  told_final_us_ = std::max(told_final_us_, served_us);
}

bool Subscriber::IsRepeat(const std::string& identity,
                          const v1::WindowResult& row) {
  const std::string name =
      absl::StrCat(identity, " ", row.version(), " ", row.finality());
  const std::string bytes = row.SerializeAsString();
  since_kept_[name] = bytes;
  auto before = expected_again_.find(name);
  if (before == expected_again_.end()) return false;
  ++repeated_rows_;
  if (before->second != bytes) {
    Fault(
        absl::StrCat("a row comes again as another: ", row.ShortDebugString()));
  }
  expected_again_.erase(before);
  return true;
}

void Subscriber::ReadRow(const v1::WindowResult& row) {
  const std::string identity = IdentityOf(row);
  if (IsRepeat(identity, row)) return;
  if (row.partial_span()) {
    Fault(absl::StrCat("partial_span: ", row.ShortDebugString()));
  }
  Last& last = last_[identity];
  if (last.finality == v1::FINALITY_FINAL) {
    Fault(absl::StrCat("comes after the final row of ", identity, ": ",
                       row.ShortDebugString()));
    return;
  }
  if (row.version() < last.version ||
      (row.version() == last.version && row.finality() == last.finality)) {
    Fault(absl::StrCat("version ", row.version(), " of ", identity,
                       " comes after ", last.version));
  }
  if (row.finality() == v1::FINALITY_RETRACTED &&
      last.finality != v1::FINALITY_PROVISIONAL) {
    Fault(absl::StrCat("taken back but not announced: ", identity));
  }
  last = {row.version(), row.finality()};
  if (row.finality() == v1::FINALITY_PROVISIONAL) ++provisional_rows_;
  if (row.finality() != v1::FINALITY_FINAL) return;
  finals_[identity] = ContentsOf(row);
  const int64_t closes_us = FromTimestamp(row.window().end_time()) +
                            (view_ == ViewKind::kSessions ? 1 : 0);
  if (closes_us <= told_final_us_) {
    Fault(absl::StrCat("the final row of ", identity,
                       " comes after progress has passed it, at ",
                       told_final_us_));
  }
}

}  // namespace casement::stress
