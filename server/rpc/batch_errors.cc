#include "server/rpc/batch_errors.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "server/engine/error.h"
#include "server/engine/spec.h"
#include "server/rpc/utf8.h"

namespace casement::rpc {
namespace {

absl::string_view MessageOf(engine::RejectReason reason) {
  switch (reason) {
    case engine::RejectReason::kMissingTime:
      return "the event has no time";
    case engine::RejectReason::kTimeOutOfRange:
      return "the time is not in the years 1 to 9999";
    case engine::RejectReason::kInvalidTime:
      return "the time's nanos are not from 0 to 999,999,999";
    case engine::RejectReason::kMissingField:
      return "the field is required";
    case engine::RejectReason::kUnknownField:
      return "the stream has no such field";
    case engine::RejectReason::kWrongType:
      return "the value is not of the field's type";
    case engine::RejectReason::kValueTooLarge:
      return "the value has more than 65536 bytes";
    case engine::RejectReason::kNotUtf8:
      return "the value is not text in UTF-8";
    case engine::RejectReason::kTooFarAhead:
      return "the time is too far ahead of the server's clock";
  }
  return "";
}

}  // namespace

static_assert(engine::kMaxValueBytes == 65536, "said in a message above");

absl::Status Malformed(absl::string_view part, absl::string_view what) {
  engine::ErrorDetail detail;
  detail.reason = engine::kMalformedBatch;
  engine::FieldViolation violation;
  violation.field = std::string(part);
  violation.description = std::string(what);
  detail.violations.push_back(std::move(violation));
  return engine::MakeError(absl::StatusCode::kInvalidArgument,
                           absl::StrCat("malformed batch: ", part, " ", what),
                           detail);
}

absl::Status TooLarge(absl::string_view unit, int64_t most, int64_t given) {
  return engine::MakeError(
      absl::StatusCode::kInvalidArgument, engine::kBatchTooLarge,
      absl::StrCat("a batch may have at most ", most, " ", unit, "; this has ",
                   given),
      {{"expected", absl::StrCat(most)}, {"given", absl::StrCat(given)}});
}

engine::RejectedEvent MakeReject(int32_t index, engine::RejectReason reason,
                                 absl::string_view field) {
  engine::RejectedEvent reject;
  reject.index = index;
  reject.reason = reason;
  reject.field = std::string(field);
  const absl::string_view message = MessageOf(reason);
  reject.message = std::string(message);
  return reject;
}

std::optional<engine::RejectReason> StringFault(absl::string_view value,
                                                bool is_text) {
  if (value.size() > static_cast<size_t>(engine::kMaxValueBytes)) {
    return engine::RejectReason::kValueTooLarge;
  }
  if (is_text && !IsUtf8(value)) return engine::RejectReason::kNotUtf8;
  return std::nullopt;
}

}  // namespace casement::rpc
