#include "client/latest_rows.h"

#include <iterator>

#include "absl/strings/str_cat.h"

namespace casement::client {
namespace {

bool IsKnown(v1::Finality finality) {
  switch (finality) {
    case v1::FINALITY_PROVISIONAL:
    case v1::FINALITY_FINAL:
    case v1::FINALITY_CORRECTED:
    case v1::FINALITY_RETRACTED:
      return true;
    default:
      return false;
  }
}

// Bounds can lie beyond what an int64 of microseconds holds.
__int128 Micros(const google::protobuf::Timestamp& time) {
  return static_cast<__int128>(time.seconds()) * 1'000'000 +
         time.nanos() / 1000;
}

void AppendBound(bool present, const google::protobuf::Timestamp& time,
                 std::string* out) {
  if (!present) {
    absl::StrAppend(out, "|-");
    return;
  }
  absl::StrAppend(out, "|", time.seconds(), ".", time.nanos());
}

}  // namespace

std::string LatestRows::Identity(const v1::WindowResult& result) {
  // Names have no bar in them; the key comes last, as bytes.
  std::string identity = absl::StrCat(result.view(), "|", result.revision());
  const v1::Window& window = result.window();
  AppendBound(window.has_start_time(), window.start_time(), &identity);
  AppendBound(window.has_end_time(), window.end_time(), &identity);
  absl::StrAppend(&identity, "|", result.key().SerializeAsString());
  return identity;
}

bool LatestRows::Apply(const v1::WindowResult& result) {
  if (!IsKnown(result.finality())) return false;
  Row& row = rows_[Identity(result)];
  if (result.version() < row.result.version()) return false;
  const bool live = result.finality() != v1::FINALITY_RETRACTED;
  live_ += static_cast<int>(live) - static_cast<int>(row.live);
  row.live = live;
  row.result = result;
  return true;
}

void LatestRows::ForEach(
    const std::function<void(const v1::WindowResult&)>& use) const {
  for (const auto& [identity, row] : rows_) {
    if (row.live) use(row.result);
  }
}

const v1::WindowResult* LatestRows::Find(const std::string& identity) const {
  const auto it = rows_.find(identity);
  if (it == rows_.end() || !it->second.live) return nullptr;
  return &it->second.result;
}

void LatestRows::ForgetThrough(int64_t end_us) {
  for (auto it = rows_.begin(); it != rows_.end();) {
    const auto next = std::next(it);
    const v1::Window& window = it->second.result.window();
    if (window.has_end_time() && Micros(window.end_time()) <= end_us) {
      live_ -= static_cast<int>(it->second.live);
      rows_.erase(it);
    }
    it = next;
  }
}

}  // namespace casement::client
