// How long to wait before trying again. What this is for: clients that lost
// their server must not all come back at the same moment. The one invariant:
// each wait is between half of a bound and the bound, which doubles from
// `initial` to `most` and starts anew after Reset.

#ifndef CASEMENT_CLIENT_BACKOFF_H_
#define CASEMENT_CLIENT_BACKOFF_H_

#include <algorithm>

#include "absl/random/random.h"
#include "absl/time/time.h"

namespace casement::client {

struct BackoffOptions {
  absl::Duration initial = absl::Milliseconds(100);
  absl::Duration most = absl::Seconds(1);
};

// Not thread-safe.
class Backoff {
 public:
  explicit Backoff(const BackoffOptions& options)
      : options_(options), bound_(options.initial) {}

  absl::Duration Next() {
    const absl::Duration wait = bound_ * absl::Uniform(random_, 0.5, 1.0);
    bound_ = std::min(bound_ * 2, options_.most);
    return wait;
  }

  void Reset() { bound_ = options_.initial; }

 private:
  const BackoffOptions options_;
  absl::Duration bound_;
  absl::BitGen random_;
};

}  // namespace casement::client

#endif  // CASEMENT_CLIENT_BACKOFF_H_
