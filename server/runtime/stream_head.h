// What of a stream is published: how far its views can be read, which views
// there are, and who waits for more. The publisher moves it after the store has
// what it tells; it never moves back.
#ifndef CASEMENT_SERVER_RUNTIME_STREAM_HEAD_H_
#define CASEMENT_SERVER_RUNTIME_STREAM_HEAD_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/engine/spec.h"
#include "server/engine/types.h"
#include "server/runtime/executor.h"
#include "server/runtime/runtime.h"

namespace casement::runtime {

// A view that can be read.
struct PublishedView {
  uint32_t number = 0;
  engine::ViewDefinition definition;
  std::atomic<bool> deleted = false;
};

// Someone who waits for a stream to move. Called without locks held.
class HeadWaiter {
 public:
  virtual ~HeadWaiter() = default;
  virtual void Moved() = 0;
};

class StreamHead {
 public:
  explicit StreamHead(const engine::Progress& progress) : progress_(progress) {}

  engine::Progress progress() const;
  // Not OK when the stream is gone: deleted, or with its runtime.
  absl::Status status() const;
  // Null if there is none.
  std::shared_ptr<const PublishedView> FindView(absl::string_view id) const;

  // -- For the publisher

  void AddView(std::shared_ptr<PublishedView> view);
  void RemoveView(uint32_t number);
  // Moves on and tells all who wait.
  void Publish(const engine::Progress& progress);
  // Ends all waiting for good.
  void End(const absl::Status& status);

  // -- For readers

  // True if there is something after the position, or reading would fail.
  // Otherwise `waiter` is called once when the stream moves.
  bool HasNewsOrWait(const LogPosition& position, const PublishedView& view,
                     const std::weak_ptr<HeadWaiter>& waiter);

  // Calls the task when the version is published, at once if it is; with
  // CANCELLED when `cancelled` says so at a publication; with the status of
  // End.
  void WaitForVersion(engine::Version version, std::function<bool()> cancelled,
                      Task task);

 private:
  struct VersionWaiter {
    engine::Version version;
    std::function<bool()> cancelled;
    Task task;
  };

  void WakeAll();

  mutable std::mutex mutex_;
  engine::Progress progress_;
  absl::Status status_;
  std::map<std::string, std::shared_ptr<PublishedView>, std::less<>> views_;
  std::vector<std::weak_ptr<HeadWaiter>> waiters_;
  std::vector<VersionWaiter> version_waiters_;
};

// The index of a position that has all entries of its version behind it.
inline constexpr int64_t kEndOfVersion = std::numeric_limits<int64_t>::max();

}  // namespace casement::runtime

#endif  // CASEMENT_SERVER_RUNTIME_STREAM_HEAD_H_
