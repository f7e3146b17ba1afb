// The stream and the views of the stress run.

#ifndef CASEMENT_TESTS_CRASH_VIEWS_H_
#define CASEMENT_TESTS_CRASH_VIEWS_H_

#include <array>
#include <cstdint>
#include <string>

#include "casement/v1/definition.pb.h"

namespace casement::stress {

inline constexpr char kStream[] = "streams/orders";
inline constexpr std::array<const char*, 2> kProducerIds = {"left", "right"};

inline constexpr int64_t kTumblingUs = 10'000'000;
inline constexpr int64_t kSlidingUs = 30'000'000;
inline constexpr int64_t kPeriodUs = 10'000'000;
// Short enough that a key's events make many sessions.
inline constexpr int64_t kGapUs = 1'500'000;

enum class ViewKind { kTumbling, kSliding, kSessions };

inline constexpr std::array<ViewKind, 3> kViews = {
    ViewKind::kTumbling, ViewKind::kSliding, ViewKind::kSessions};

// "tumbling", "sliding", "sessions".
std::string ViewId(ViewKind kind);
std::string ViewName(ViewKind kind);

// LEAST over both producers, which are required.
v1::Stream OrdersStream();
// All group by key and have the same aggregates. The view of sessions sends
// provisional results after each batch, the others only final ones.
v1::View OrdersView(ViewKind kind);

}  // namespace casement::stress

#endif  // CASEMENT_TESTS_CRASH_VIEWS_H_
