// Final results in a form that can be compared: which window of which key, and
// what it amounts to. Which journal record closed the window is no part of it:
// that depends on how the producers' batches interleave.

#ifndef CASEMENT_TESTS_CRASH_FINALS_H_
#define CASEMENT_TESTS_CRASH_FINALS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "casement/v1/result.pb.h"
#include "tests/crash/input.h"
#include "tests/crash/views.h"

namespace casement::stress {

// Of one view: identity to contents, both as text.
using Finals = std::map<std::string, std::string>;

std::string IdentityOf(const v1::WindowResult& row);
std::string ContentsOf(const v1::WindowResult& row);

// The right finals of a view, worked out from all events at once and without
// any of the server's means.
Finals Recompute(ViewKind kind, const std::vector<InputEvent>& events);

// What differs, in words; at most a few examples. Empty: nothing.
std::string Difference(const Finals& expected, const Finals& got);

}  // namespace casement::stress

#endif  // CASEMENT_TESTS_CRASH_FINALS_H_
