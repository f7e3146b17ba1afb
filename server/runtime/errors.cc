#include "server/runtime/errors.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/engine/error.h"

namespace casement::runtime {
namespace {

absl::Status WithDelay(absl::StatusCode code, absl::string_view reason,
                       absl::string_view message, int64_t delay_us) {
  engine::ErrorDetail detail;
  detail.reason = std::string(reason);
  detail.retry_delay_us = delay_us;
  return engine::MakeError(code, message, detail);
}

}  // namespace

std::string StreamName(absl::string_view stream) {
  return absl::StrCat("streams/", stream);
}

std::string ViewName(absl::string_view stream, absl::string_view view) {
  return absl::StrCat("streams/", stream, "/views/", view);
}

std::string ProducerName(absl::string_view stream, absl::string_view producer) {
  return absl::StrCat("streams/", stream, "/producers/", producer);
}

absl::Status ReadOnlyError() {
  return WithDelay(absl::StatusCode::kUnavailable, engine::kReadOnly,
                   "the store can't be written (is its disk full?); the "
                   "server goes on by itself when it can",
                   1'000'000);
}

absl::Status DrainingError() {
  return WithDelay(absl::StatusCode::kUnavailable, engine::kDraining,
                   "the server is shutting down", 1'000'000);
}

absl::Status OverloadedError(absl::string_view what) {
  return WithDelay(absl::StatusCode::kResourceExhausted, engine::kOverloaded,
                   what, 100'000);
}

absl::Status CorruptError(absl::string_view message) {
  return engine::MakeError(absl::StatusCode::kDataLoss, engine::kStoreCorrupt,
                           message);
}

absl::Status FromStore(const absl::Status& status) {
  if (status.ok() || engine::GetErrorDetail(status).has_value()) return status;
  if (absl::IsDataLoss(status)) return CorruptError(status.message());
  return ReadOnlyError();
}

}  // namespace casement::runtime
