#include "client/tool/progress_line.h"

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/tool/table.h"

namespace casement::tool {

void ProgressLine::Update(const client::ProducerTotals& totals) {
  if (mode_ == Mode::kNone) return;
  const absl::Time now = absl::Now();
  std::lock_guard<std::mutex> lock(mutex_);
  if (start_ == absl::InfinitePast()) start_ = now;
  const absl::Duration pause =
      mode_ == Mode::kRepaint ? absl::Milliseconds(100) : absl::Seconds(1);
  if (now - last_ < pause) return;
  last_ = now;
  const double seconds = absl::ToDoubleSeconds(now - start_);
  const std::string rate =
      seconds < 0.5
          ? ""
          : absl::StrCat(
                "  ",
                static_cast<int64_t>(
                    static_cast<double>(totals.received_events) / seconds),
                "/s");
  ClearLocked();
  *err_ << totals.received_events << " events acknowledged, "
        << totals.late_events << " late, " << totals.rejected_events
        << " rejected; watermark " << WatermarkText(totals.progress) << rate;
  painted_ = mode_ == Mode::kRepaint;
  if (!painted_) *err_ << "\n";
  err_->flush();
}

void ProgressLine::Say(const std::string& text) {
  std::lock_guard<std::mutex> lock(mutex_);
  ClearLocked();
  *err_ << text << "\n";
  err_->flush();
}

void ProgressLine::Clear() {
  std::lock_guard<std::mutex> lock(mutex_);
  ClearLocked();
  err_->flush();
}

void ProgressLine::ClearLocked() {
  if (!painted_) return;
  *err_ << "\r\x1b[K";
  painted_ = false;
}

}  // namespace casement::tool
