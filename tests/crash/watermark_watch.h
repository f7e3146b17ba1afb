// The stream's watermark as all threads have seen it: it may never go back, not
// over a kill either. An answer may be older than one that another thread got
// meanwhile, so it is held against what was known when its question was asked.

#ifndef CASEMENT_TESTS_CRASH_WATERMARK_WATCH_H_
#define CASEMENT_TESTS_CRASH_WATERMARK_WATCH_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string>

#include "absl/strings/str_cat.h"
#include "casement/v1/window.pb.h"
#include "tests/crash/faults.h"
#include "tests/crash/times.h"

namespace casement::stress {

// Before all others while there is none, after all when the stream has ended.
inline int64_t WatermarkOf(const v1::Progress& progress) {
  if (progress.ended()) return std::numeric_limits<int64_t>::max();
  if (!progress.has_watermark_time()) {
    return std::numeric_limits<int64_t>::min();
  }
  return FromTimestamp(progress.watermark_time());
}

class WatermarkWatch {
 public:
  explicit WatermarkWatch(Faults& faults) : faults_(faults) {}

  // Before a question.
  int64_t Known() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return known_;
  }

  // Its answer.
  void Saw(const std::string& who, int64_t known_before,
           const v1::Progress& progress) {
    const int64_t watermark = WatermarkOf(progress);
    if (watermark < known_before) {
      faults_.Add(absl::StrCat(who, " saw the watermark go back from ",
                               known_before, " to ", watermark));
    }
    std::lock_guard<std::mutex> lock(mutex_);
    known_ = std::max(known_, watermark);
  }

 private:
  Faults& faults_;
  mutable std::mutex mutex_;
  int64_t known_ = std::numeric_limits<int64_t>::min();
};

}  // namespace casement::stress

#endif  // CASEMENT_TESTS_CRASH_WATERMARK_WATCH_H_
