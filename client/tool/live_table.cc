#include "client/tool/live_table.h"

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "client/latest_rows.h"
#include "client/names.h"
#include "client/tool/table.h"

namespace casement::tool {
namespace {

constexpr size_t kMostRows = 200;
// Above and below the rows.
constexpr int kOtherLines = 5;

bool Earlier(const v1::WindowResult* a, const v1::WindowResult* b) {
  const auto key = [](const v1::WindowResult* row) {
    const auto& start = row->window().start_time();
    return std::make_tuple(start.seconds(), start.nanos(),
                           row->key().SerializeAsString());
  };
  return key(a) < key(b);
}

}  // namespace

LiveTable::LiveTable(v1::View view, std::ostream* out)
    : view_(std::move(view)), out_(out) {}

void LiveTable::Apply(const v1::WindowResult& row) {
  const std::string identity = client::LatestRows::Identity(row);
  const auto it = by_identity_.find(identity);
  if (it != by_identity_.end()) {
    if (row.version() < it->second->version()) return;
    rows_.erase(it->second);
    by_identity_.erase(it);
  }
  switch (row.finality()) {
    case v1::FINALITY_RETRACTED:
      ++retracted_;
      return;
    case v1::FINALITY_PROVISIONAL:
      ++provisionals_;
      break;
    default:
      ++finals_;
      break;
  }
  rows_.push_front(row);
  by_identity_[identity] = rows_.begin();
  if (rows_.size() <= kMostRows) return;
  by_identity_.erase(client::LatestRows::Identity(rows_.back()));
  rows_.pop_back();
}

void LiveTable::Paint(ScreenSize size, bool force) {
  const absl::Time now = absl::Now();
  if (!force && now - last_ < absl::Milliseconds(100)) return;
  last_ = now;
  const size_t fit = static_cast<size_t>(std::max(1, size.rows - kOtherLines));
  std::vector<const v1::WindowResult*> newest;
  for (const v1::WindowResult& row : rows_) {
    if (newest.size() == fit) break;
    newest.push_back(&row);
  }
  std::sort(newest.begin(), newest.end(), Earlier);
  Table table(ResultColumns(view_.spec()));
  for (const v1::WindowResult* row : newest) {
    table.Add(ResultCells(view_.spec(), *row));
  }
  std::ostringstream text;
  text << client::ShortName(view_.name()) << "  watermark "
       << WatermarkText(stats_.progress()) << "  version "
       << stats_.progress().version() << "  events " << stats_.counted_events()
       << " counted, " << stats_.late_events() << " late\n"
       << "results seen: " << finals_ << " final, " << provisionals_
       << " provisional, " << retracted_ << " retracted\n\n";
  table.Print(text, true, static_cast<size_t>(size.columns));
  text << note_;
  // From the top, over what is there: no flicker.
  std::string screen = cleared_ ? "\x1b[H" : "\x1b[2J\x1b[H";
  cleared_ = true;
  for (const char c : text.str()) {
    if (c == '\n') screen += "\x1b[K";
    screen += c;
  }
  *out_ << screen << "\x1b[K\n\x1b[J";
  out_->flush();
}

}  // namespace casement::tool
