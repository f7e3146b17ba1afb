// Stored results.
//
//   row       := version log_entry state      the last two with their lengths
//   log_entry := finality:1 retracted_finality:1 reason:1 timing:1 partial:1
//                start end closing_time key event_count first last final_at
//                count (start end)*           the windows it replaces
//                count value*
//   value     := 0 | 1 int64 | 2 double:8 | 3 bool:1 | 4 text | 5 bytes
//              | 6 decimal text | 7 double:8 value(sum) count
//
// Numbers are varints, signed ones zig-zag.
#include "server/engine/result.h"

#include <utility>

#include "server/engine/codec.h"
#include "server/engine/error.h"
#include "server/engine/result_codec.h"

namespace casement::engine {
namespace {

enum ValueTag : uint8_t {
  kNull = 0,
  kInt64 = 1,
  kDouble = 2,
  kBool = 3,
  kString = 4,
  kBytes = 5,
  kDecimal = 6,
  kMean = 7,
};

template <typename V>
void EncodeScalar(const V& value, Encoder* out) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    out->Byte(kInt64);
    out->Signed(*number);
  } else if (const auto* real = std::get_if<double>(&value)) {
    out->Byte(kDouble);
    out->Double(*real);
  } else if (const auto* flag = std::get_if<bool>(&value)) {
    out->Byte(kBool);
    out->Byte(*flag);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    out->Byte(kString);
    out->String(*text);
  } else if (const auto* bytes = std::get_if<Bytes>(&value)) {
    out->Byte(kBytes);
    out->String(bytes->value);
  } else if (const auto* decimal = std::get_if<Decimal>(&value)) {
    out->Byte(kDecimal);
    out->String(decimal->value);
  } else {
    out->Byte(kNull);
  }
}

template <typename V>
V DecodeScalar(uint8_t tag, Decoder* in) {
  switch (tag) {
    case kNull:
      return V();
    case kInt64:
      return V(in->Signed());
    case kDouble:
      return V(in->Double());
    case kBool:
      return V(in->Enum(0, 1) != 0);
    case kString:
      return V(std::string(in->String()));
    case kBytes:
      return V(Bytes{std::string(in->String())});
    case kDecimal:
      return V(Decimal{std::string(in->String())});
    default:
      in->Fail();
      return V();
  }
}

absl::Status Damaged(absl::string_view what) {
  return MakeError(absl::StatusCode::kDataLoss, kStoreCorrupt, what);
}

Finality DecodeFinality(Decoder* in) {
  return static_cast<Finality>(
      in->Enum(static_cast<uint8_t>(Finality::kProvisional),
               static_cast<uint8_t>(Finality::kRetracted)));
}

}  // namespace

void EncodeHeader(const ResultHeader& header, absl::string_view key,
                  const std::vector<Window>& replaced, Encoder* out) {
  out->Byte(static_cast<uint8_t>(header.finality));
  out->Byte(static_cast<uint8_t>(header.retracted_finality));
  out->Byte(static_cast<uint8_t>(header.reason));
  out->Byte(static_cast<uint8_t>(header.timing));
  out->Byte(header.partial_span);
  out->Signed(header.window.start);
  out->Signed(header.window.end);
  out->Signed(header.closing_time);
  out->String(key);
  out->Signed(header.event_count);
  out->Signed(header.first_event_time);
  out->Signed(header.last_event_time);
  out->Signed(header.final_at);
  out->Varint(replaced.size());
  for (const Window& window : replaced) {
    out->Signed(window.start);
    out->Signed(window.end);
  }
}

void EncodeValue(const AggregateValue& value, Encoder* out) {
  if (const auto* mean = std::get_if<MeanValue>(&value)) {
    out->Byte(kMean);
    out->Double(mean->value);
    EncodeScalar(mean->sum, out);
    out->Signed(mean->count);
    return;
  }
  EncodeScalar(value, out);
}

AggregateValue DecodeValue(Decoder* in) {
  const uint8_t tag = in->Byte();
  if (tag != kMean) return DecodeScalar<AggregateValue>(tag, in);
  MeanValue mean;
  mean.value = in->Double();
  mean.sum = DecodeScalar<ScalarValue>(in->Byte(), in);
  mean.count = in->Signed();
  return mean;
}

absl::StatusOr<Result> DecodeLogEntry(absl::string_view bytes,
                                      Version version) {
  Decoder in(bytes);
  Result result;
  result.version = version;
  result.finality = DecodeFinality(&in);
  result.retracted_finality = DecodeFinality(&in);
  result.reason = static_cast<EmitReason>(
      in.Enum(0, static_cast<uint8_t>(EmitReason::kSessionMerge)));
  result.timing =
      static_cast<Timing>(in.Enum(0, static_cast<uint8_t>(Timing::kLate)));
  result.partial_span = in.Enum(0, 1) != 0;
  result.window.start = in.Signed();
  result.window.end = in.Signed();
  result.closing_time = in.Signed();
  result.key = std::string(in.String());
  result.event_count = in.Signed();
  result.first_event_time = in.Signed();
  result.last_event_time = in.Signed();
  result.final_at = in.Signed();
  result.replaced_windows.resize(in.Count(2));
  for (Window& window : result.replaced_windows) {
    window.start = in.Signed();
    window.end = in.Signed();
  }
  const uint64_t values = in.Count(1);
  result.values.reserve(values);
  for (uint64_t i = 0; i < values && in.ok(); ++i) {
    result.values.push_back(DecodeValue(&in));
  }
  if (!in.done()) return Damaged("a stored result is damaged");
  return result;
}

absl::StatusOr<Result> DecodeRow(absl::string_view bytes) {
  Decoder in(bytes);
  const Version version = in.Signed();
  const absl::string_view entry = in.String();
  in.String();  // the state: for merging, not for reading
  if (!in.done()) return Damaged("a stored row is damaged");
  return DecodeLogEntry(entry, version);
}

absl::StatusOr<EntryFinality> PeekFinality(absl::string_view log_entry) {
  Decoder in(log_entry);
  EntryFinality finality;
  finality.finality = DecodeFinality(&in);
  finality.retracted_finality = DecodeFinality(&in);
  if (!in.ok()) return Damaged("a stored result is damaged");
  return finality;
}

}  // namespace casement::engine
