// How far an ingest has come, on a terminal: one line that is painted over. The
// one invariant: nothing is left of it among other lines.

#ifndef CASEMENT_CLIENT_TOOL_PROGRESS_LINE_H_
#define CASEMENT_CLIENT_TOOL_PROGRESS_LINE_H_

#include <mutex>
#include <ostream>
#include <string>

#include "absl/time/time.h"
#include "client/producer.h"

namespace casement::tool {

// Thread-safe.
class ProgressLine {
 public:
  enum class Mode {
    kNone,
    kRepaint,  // One line, painted over.
    kLines,    // A line a second.
  };

  ProgressLine(std::ostream* err, Mode mode) : err_(err), mode_(mode) {}

  // Paints, but not more often than is good to read.
  void Update(const client::ProducerTotals& totals);
  // A line of its own, beside the progress.
  void Say(const std::string& text);
  // Takes the line away.
  void Clear();

 private:
  void ClearLocked();

  std::ostream* const err_;
  const Mode mode_;
  std::mutex mutex_;
  absl::Time last_ = absl::InfinitePast();
  absl::Time start_ = absl::InfinitePast();
  bool painted_ = false;
};

}  // namespace casement::tool

#endif  // CASEMENT_CLIENT_TOOL_PROGRESS_LINE_H_
