// A script: a stream, and what happens to it, step by step, in terms that stay
// meaningful when steps are left out (no sequence numbers, epochs or view
// numbers), so that a failing script can be made small.
#ifndef CASEMENT_TESTS_MODEL_SCRIPT_H_
#define CASEMENT_TESTS_MODEL_SCRIPT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "server/engine/batch.h"
#include "server/engine/record.h"
#include "server/engine/result.h"
#include "server/engine/spec.h"
#include "server/engine/types.h"

namespace casement::model {

struct ScriptEvent {
  // Set: the event is bad, and its batch tells so.
  std::optional<engine::RejectReason> bad;
  engine::TimeUs time = 0;
  std::vector<engine::ScalarValue> values;  // one a field; monostate: null
};

// What a sender may do wrong.
enum class Twist : uint8_t {
  kNone,
  kRepeat,   // then sends one of its former batches again, as it was
  kReuse,    // then sends other content under a former number
  kGap,      // first sends it under a number too high
  kFenced,   // first sends it under the epoch before its own
  kUnknown,  // first sends it as a producer that was never opened
};

struct BatchStep {
  std::string producer;
  std::vector<ScriptEvent> events;
  std::optional<engine::TimeUs> asserted;
  engine::SourceState state = engine::SourceState::kUnchanged;
  std::optional<std::string> position;
  std::optional<engine::TimeUs> arrival;
  Twist twist = Twist::kNone;
  uint64_t layout = 0;  // seed of how the columns are laid out
};
struct OpenStep {
  std::string producer;
};
struct CreateViewStep {
  engine::ViewDefinition definition;
};
struct DeleteViewStep {
  std::string id;
};
struct EndStep {};

using Step =
    std::variant<BatchStep, OpenStep, CreateViewStep, DeleteViewStep, EndStep>;

struct Script {
  engine::StreamSpec spec;
  std::vector<Step> steps;
};

// The events as a batch. The layout (order and repeats of symbols, what is in
// the slots of nulls, whether a column of nulls is there) goes by `layout` and
// must not matter.
engine::EventBatch MakeEvents(const engine::StreamSpec& spec,
                              const std::vector<ScriptEvent>& events,
                              uint64_t layout);

std::string ToText(const engine::ViewSpec& spec);
std::string ToText(const Script& script);

}  // namespace casement::model

#endif  // CASEMENT_TESTS_MODEL_SCRIPT_H_
