#include "tests/conformance/follower.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "tests/support/rpc.h"

namespace casement::conformance {
namespace {

// A case takes well under a second; this is for a server that says nothing.
constexpr std::chrono::seconds kCallDeadline(120);

}  // namespace

Follower::~Follower() { Forget(); }

absl::Status Follower::Open(const std::shared_ptr<grpc::Channel>& channel) {
  Forget();
  stub_ = v1::ResultService::NewStub(channel);
  context_ = std::make_unique<grpc::ClientContext>();
  context_->set_wait_for_ready(true);
  context_->set_deadline(std::chrono::system_clock::now() + kCallDeadline);
  v1::SubscribeRequest request;
  request.set_view(view_);
  if (cursor_.empty()) {
    request.set_position(v1::POSITION_OLDEST);
  } else {
    request.set_cursor(cursor_);
  }
  request.mutable_heartbeat_interval()->set_seconds(1);
  reader_ = stub_->Subscribe(context_.get(), request);
  v1::SubscribeResponse response;
  if (!ReadOne(&response)) return Broken();
  if (!response.has_opened()) {
    return absl::InternalError("the first answer of Subscribe is not Opened");
  }
  while (!response.has_synced()) {
    if (!ReadOne(&response)) return Broken();
  }
  return absl::OkStatus();
}

absl::Status Follower::ReadUntil(int64_t version) {
  v1::SubscribeResponse response;
  while (served_version_ < version) {
    if (!ReadOne(&response)) {
      absl::Status status = Broken();
      return absl::Status(
          status.code(),
          absl::StrCat(status.message(), " (served up to version ",
                       served_version_, ", waiting for ", version, ")"));
    }
  }
  return absl::OkStatus();
}

void Follower::ReadRest() {
  v1::SubscribeResponse response;
  while (reader_ != nullptr && ReadOne(&response)) {
  }
  if (reader_ != nullptr) {
    Broken().IgnoreError();  // that it ends is why this was called
  }
  stub_.reset();
}

bool Follower::ReadOne(v1::SubscribeResponse* response) {
  if (!reader_->Read(response)) return false;
  cursor_ = response->cursor();
  served_version_ = response->served_version();
  for (const v1::WindowResult& row : response->results().results()) {
    rows_.push_back(row);
  }
  return true;
}

absl::Status Follower::Broken() {
  const grpc::Status status = reader_->Finish();
  reader_.reset();
  context_.reset();
  if (status.ok()) return absl::InternalError("Subscribe ended with OK");
  return support::ToAbsl("Subscribe", status);
}

void Follower::Forget() {
  if (reader_ == nullptr) return;
  context_->TryCancel();
  v1::SubscribeResponse ignored;
  while (reader_->Read(&ignored)) {
  }
  Broken().IgnoreError();  // cancelled by us
}

}  // namespace casement::conformance
