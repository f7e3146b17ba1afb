// A stream as the runtime holds it: the state machine, which only its engine
// thread touches, and what others see of it.
#ifndef CASEMENT_SERVER_RUNTIME_STREAM_ENTRY_H_
#define CASEMENT_SERVER_RUNTIME_STREAM_ENTRY_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "server/engine/spec.h"
#include "server/engine/stream.h"
#include "server/runtime/executor.h"
#include "server/runtime/stream_head.h"

namespace casement::runtime {

struct StreamEntry {
  // Never change.
  uint32_t number = 0;
  std::shared_ptr<const engine::StreamDefinition> definition;
  Executor* thread = nullptr;
  std::shared_ptr<StreamHead> head;
  // Not OK if the stream could not be recovered: then there is no state
  // machine, and all requests but a deletion get this.
  absl::Status broken;

  const std::string& id() const { return definition->id; }

  // The engine thread's.
  std::unique_ptr<engine::Stream> stream;
  bool deleted = false;
  int64_t duplicate_batches = 0;
  size_t counted_bytes = 0;  // what it has added to the sum of all streams

  // The publisher's: the store has none of it any more.
  bool gone = false;

  // Of the valid checkpoint. The publisher moves it.
  std::atomic<engine::Version> checkpoint_version = 0;
};

}  // namespace casement::runtime

#endif  // CASEMENT_SERVER_RUNTIME_STREAM_ENTRY_H_
