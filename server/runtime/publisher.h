// The publisher thread: the only one that writes the state database. It writes
// what followed from records that are durable, moves the publication frontiers,
// and runs the tasks that create and delete, in the order in which it is given
// them. What waits for it is bounded: Push makes the caller wait.
#ifndef CASEMENT_SERVER_RUNTIME_PUBLISHER_H_
#define CASEMENT_SERVER_RUNTIME_PUBLISHER_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "server/engine/stream.h"
#include "server/runtime/executor.h"
#include "server/runtime/stream_entry.h"
#include "state/store.h"

namespace casement::runtime {

// Something to publish, or a task to run, or both: the task is called when all
// up to it is published.
struct Publication {
  std::shared_ptr<StreamEntry> entry;
  std::optional<engine::Changes> changes;
  std::shared_ptr<PublishedView> created_view;
  Task task;
  size_t bytes = 0;
};

class Publisher {
 public:
  // `failed` is called, from the publisher's thread, at its first failed write.
  Publisher(state::Store* store, std::function<void(absl::Status)> failed);
  ~Publisher();

  void Start();

  // Waits while too much is before it; not for the publisher's own thread.
  void Push(Publication publication);
  // Doesn't wait.
  void Post(Task task);

  // From now on nothing is written: what waits and what comes is answered with
  // the status. The first call counts.
  void Fail(absl::Status status);
  // Works off what waits, then ends.
  void Join();

 private:
  void Run();
  bool TakeSome(std::vector<Publication>* taken);
  void Work(std::vector<Publication>* taken);
  absl::Status Write(std::vector<Publication>* taken, size_t begin, size_t end);
  void Announce(const Publication& publication);
  void PurgeSome();
  absl::Status failure() const;

  state::Store* const store_;
  const std::function<void(absl::Status)> failed_callback_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Publication> waiting_;
  size_t waiting_bytes_ = 0;
  bool closing_ = false;
  bool purging_ = true;  // there may be something to purge
  absl::Status failure_;
  bool purge_blocked_ = false;  // the publisher thread's
  std::thread thread_;
};

}  // namespace casement::runtime

#endif  // CASEMENT_SERVER_RUNTIME_PUBLISHER_H_
