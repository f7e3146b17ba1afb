// The arithmetic of aligned windows: window k is [offset + k * period,
// offset + k * period + size), for every whole k. Floor division throughout,
// so times before 1970 are ordinary; nothing overflows for event times of
// years 1 to 9999 and spans that a Duration can say.
//
// Time is cut into slices wherever a window starts or ends, two to a period at
// most ("paired windows", Krishnamurthy et al., SIGMOD 2006): a slice lies
// wholly in or wholly outside each window, so an event goes into one slice
// however many windows hold it.
//
//   size 5, period 3:   k=0  [0 . . . . 5)
//                       k=1        [3 . . . . 8)
//                       slices  [0 . 2)[2 3)[3 . 5)[5 6)[6 . 8) ...
#ifndef CASEMENT_SERVER_ENGINE_WINDOW_GRID_H_
#define CASEMENT_SERVER_ENGINE_WINDOW_GRID_H_

#include <algorithm>
#include <cstdint>

#include "server/engine/spec.h"
#include "server/engine/types.h"

namespace casement::engine {

inline int64_t FloorDiv(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
inline int64_t FloorMod(int64_t a, int64_t b) { return a - FloorDiv(a, b) * b; }

class WindowGrid {
 public:
  // Where an event time lies.
  struct Place {
    TimeUs start = 0;  // of the slice, also where no window holds it
    TimeUs end = 0;
    int64_t first = 0;  // the windows that hold it; none if first > last
    int64_t last = -1;
  };

  explicit WindowGrid(const WindowSpec& spec)
      : size_(spec.size_us),
        period_(spec.kind == WindowKind::kTumbling ? spec.size_us
                                                   : spec.period_us),
        offset_(FloorMod(spec.offset_us, period_)),
        cut_(size_ < period_ ? size_ : size_ % period_) {}

  int64_t period() const { return period_; }
  TimeUs StartOf(int64_t k) const { return offset_ + k * period_; }
  Window WindowAt(int64_t k) const { return {StartOf(k), StartOf(k) + size_}; }

  // The last window that starts at or before t.
  int64_t LastStartingBy(TimeUs t) const {
    return FloorDiv(Bounded(t) - offset_, period_);
  }
  // The first window that ends after t.
  int64_t FirstEndingAfter(TimeUs t) const {
    return FloorDiv(Bounded(t) - size_ - offset_, period_) + 1;
  }

  Place PlaceOf(TimeUs t) const {
    Place place;
    place.last = LastStartingBy(t);
    const TimeUs base = StartOf(place.last);
    if (cut_ == 0) {
      place.start = base;
      place.end = base + period_;
    } else if (t - base < cut_) {
      place.start = base;
      place.end = base + cut_;
    } else {
      place.start = base + cut_;
      place.end = base + period_;
    }
    place.first = FirstEndingAfter(place.start);
    return place;
  }

 private:
  // Beyond every window that an event can be in, and far from overflow.
  static constexpr TimeUs kFar = int64_t{4'000'000'000'000'000'000};
  static TimeUs Bounded(TimeUs t) { return std::clamp(t, -kFar, kFar); }

  int64_t size_;
  int64_t period_;
  int64_t offset_;  // in [0, period)
  int64_t cut_;     // where in a period its second slice begins; 0: one slice
};

}  // namespace casement::engine

#endif  // CASEMENT_SERVER_ENGINE_WINDOW_GRID_H_
