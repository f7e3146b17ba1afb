#include "server/rpc/service_context.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/engine/error.h"
#include "server/rpc/time_conversion.h"

namespace casement::rpc {
namespace {

constexpr int64_t kRetryDelayUs = 500'000;

absl::Status Unavailable(absl::string_view reason, absl::string_view message,
                         const std::string& cursor) {
  engine::ErrorDetail detail;
  detail.reason = std::string(reason);
  detail.retry_delay_us = kRetryDelayUs;
  if (!cursor.empty()) {
    detail.metadata.emplace_back("cursor", absl::WebSafeBase64Escape(cursor));
  }
  return engine::MakeError(absl::StatusCode::kUnavailable, message, detail);
}

}  // namespace

MemoryReservation::MemoryReservation(MemoryReservation&& other) noexcept
    : used_(std::exchange(other.used_, nullptr)), bytes_(other.bytes_) {}

MemoryReservation& MemoryReservation::operator=(
    MemoryReservation&& other) noexcept {
  std::swap(used_, other.used_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

MemoryReservation::~MemoryReservation() {
  if (used_ != nullptr) used_->fetch_sub(bytes_);
}

ServiceContext::ServiceContext() : start_time_(WallClockUs()) {}

void ServiceContext::SetRuntime(runtime::Runtime* runtime) {
  runtime_.store(runtime, std::memory_order_release);
}

void ServiceContext::BeginDrain() { draining_.store(true); }

absl::StatusOr<runtime::Runtime*> ServiceContext::Enter() const {
  if (draining_.load()) return DrainingError();
  runtime::Runtime* runtime = runtime_or_null();
  if (runtime == nullptr) {
    return Unavailable(engine::kRecovering, "the server is starting", "");
  }
  return runtime;
}

absl::StatusOr<MemoryReservation> ServiceContext::ReserveForSubscriber(
    int64_t bytes) {
  const int64_t used = subscriber_bytes_.fetch_add(bytes);
  MemoryReservation reservation(&subscriber_bytes_, bytes);
  if (used + bytes > kSubscriberBytes) {
    return engine::MakeError(
        absl::StatusCode::kResourceExhausted, engine::kQuota,
        "too many subscribers, for the size of their responses",
        {{"limit", absl::StrCat(kSubscriberBytes)},
         {"used", absl::StrCat(used)}});
  }
  return reservation;
}

runtime::ServerState ServiceContext::state() const {
  if (draining_.load()) return runtime::ServerState::kDraining;
  const runtime::Runtime* runtime = runtime_or_null();
  return runtime == nullptr ? runtime::ServerState::kRecovering
                            : runtime->state();
}

runtime::Runtime* ServiceContext::runtime_or_null() const {
  return runtime_.load(std::memory_order_acquire);
}

absl::Status DrainingError(const std::string& cursor) {
  return Unavailable(engine::kDraining, "the server is stopping", cursor);
}

}  // namespace casement::rpc
