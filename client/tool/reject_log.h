// Which lines of an input did not count, and why. What this is for: the summary
// of an ingest names lines, where the server names places in batches. The one
// invariant: counts are exact, examples are the first ones.

#ifndef CASEMENT_CLIENT_TOOL_REJECT_LOG_H_
#define CASEMENT_CLIENT_TOOL_REJECT_LOG_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/send_queue.h"

namespace casement::tool {

// Thread-safe.
class RejectLog {
 public:
  // A record that was not sent.
  void AddMalformed(int64_t line, const std::string& fault);
  // What this program saw to be wrong with a line that it sends.
  void AddRemark(int64_t line, const std::string& remark);
  // What the server rejected of a batch.
  void AddBatch(const client::BatchReport& report);
  // A batch that the server refused whole.
  void AddRefusedBatch(const client::BatchReport& report,
                       const absl::Status& status);

  int64_t malformed() const;
  // Counts by reason, and examples, each in a line of its own.
  void Print(std::ostream& out) const;

 private:
  void AddExample(int64_t line, const std::string& text);
  std::string RemarkOn(int64_t line) const;

  mutable std::mutex mutex_;
  int64_t malformed_ = 0;
  std::map<std::string, int64_t> counts_;
  std::vector<std::string> examples_;
  std::map<int64_t, std::string> remarks_;
};

}  // namespace casement::tool

#endif  // CASEMENT_CLIENT_TOOL_REJECT_LOG_H_
