#include "client/tool/reject_log.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/status.h"

namespace casement::tool {
namespace {

constexpr size_t kMostExamples = 10;
// Remarks wait for their batch's answer; a file that is all wrong may not fill
// the memory with them.
constexpr size_t kMostRemarks = 1000;

std::string ReasonWord(v1::RejectReason reason) {
  const std::string& name = v1::RejectReason_Name(reason);
  if (name.empty()) return absl::StrCat("reason ", static_cast<int>(reason));
  return std::string(absl::StripPrefix(name, "REJECT_REASON_"));
}

// "events[12].origin" -> 12, or -1.
int IndexOf(absl::string_view field) {
  if (!absl::ConsumePrefix(&field, "events[")) return -1;
  int index = -1;
  const size_t end = field.find(']');
  if (end == absl::string_view::npos ||
      !absl::SimpleAtoi(field.substr(0, end), &index)) {
    return -1;
  }
  return index;
}

int64_t LineOf(const client::BatchReport& report, int index) {
  if (index < 0 || static_cast<size_t>(index) >= report.tags.size()) return 0;
  return report.tags[index];
}

}  // namespace

void RejectLog::AddMalformed(int64_t line, const std::string& fault) {
  std::lock_guard<std::mutex> lock(mutex_);
  ++malformed_;
  AddExample(line, absl::StrCat("not sent: ", fault));
}

void RejectLog::AddRemark(int64_t line, const std::string& remark) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (remarks_.size() < kMostRemarks) remarks_.emplace(line, remark);
}

void RejectLog::AddBatch(const client::BatchReport& report) {
  std::lock_guard<std::mutex> lock(mutex_);
  const v1::RejectSummary& rejects = report.ack.rejects();
  for (const auto& count : rejects.counts()) {
    counts_[ReasonWord(count.reason())] += count.count();
  }
  for (const auto& reject : rejects.examples()) {
    const int64_t line = LineOf(report, reject.index());
    std::string text = ReasonWord(reject.reason());
    const std::string remark = RemarkOn(line);
    // What was read says more than what came of it.
    if (!remark.empty()) {
      absl::StrAppend(&text, ": ", remark);
    } else {
      absl::StrAppend(&text, " ", reject.field(), ": ", reject.message());
    }
    AddExample(line, text);
  }
  if (report.tags.empty()) return;
  remarks_.erase(remarks_.begin(), remarks_.upper_bound(report.tags.back()));
}

void RejectLog::AddRefusedBatch(const client::BatchReport& report,
                                const absl::Status& status) {
  std::lock_guard<std::mutex> lock(mutex_);
  counts_["whole batches refused"] += 1;
  const client::ErrorDetails details = client::GetErrorDetails(status);
  for (const client::FieldViolation& violation : details.violations) {
    const int64_t line = LineOf(report, IndexOf(violation.field));
    const std::string remark = RemarkOn(line);
    AddExample(line,
               absl::StrCat(violation.reason, " ", violation.field, ": ",
                            remark.empty() ? violation.description : remark));
  }
  if (details.violations.empty() && !report.tags.empty()) {
    AddExample(report.tags.front(), absl::StrCat("and ", report.tags.size() - 1,
                                                 " more: ", status.message()));
  }
}

int64_t RejectLog::malformed() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return malformed_;
}

void RejectLog::Print(std::ostream& out) const {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [reason, count] : counts_) {
    out << "  " << reason << ": " << count << "\n";
  }
  for (const std::string& example : examples_) out << "  " << example << "\n";
}

void RejectLog::AddExample(int64_t line, const std::string& text) {
  if (examples_.size() >= kMostExamples) return;
  examples_.push_back(line > 0 ? absl::StrCat("line ", line, ": ", text)
                               : text);
}

std::string RejectLog::RemarkOn(int64_t line) const {
  const auto it = remarks_.find(line);
  return it == remarks_.end() ? "" : it->second;
}

}  // namespace casement::tool
