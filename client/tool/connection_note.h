// What a person is told of a connection that breaks: once when it breaks, once
// when it is back, and nothing of the attempts in between.

#ifndef CASEMENT_CLIENT_TOOL_CONNECTION_NOTE_H_
#define CASEMENT_CLIENT_TOOL_CONNECTION_NOTE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace casement::tool {

// Used from one thread.
class ConnectionNote {
 public:
  // The text for one report of a producer or subscriber; empty: say nothing.
  std::string For(const absl::Status& status) {
    const bool was_broken = broken_;
    broken_ = !status.ok();
    if (status.ok()) return "connected again";
    if (was_broken) return "";
    return absl::StrCat("connection broke (", status.message(),
                        "); trying again");
  }

 private:
  bool broken_ = false;
};

}  // namespace casement::tool

#endif  // CASEMENT_CLIENT_TOOL_CONNECTION_NOTE_H_
