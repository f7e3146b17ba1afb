// Threads that run tasks in the order in which they came; with one thread, one
// after the other. A task is called exactly once, whatever happens: with OK to
// do its work, or with an error, after Close, to answer it.
#ifndef CASEMENT_SERVER_RUNTIME_EXECUTOR_H_
#define CASEMENT_SERVER_RUNTIME_EXECUTOR_H_

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"

namespace casement::runtime {

using Task = absl::AnyInvocable<void(const absl::Status&)>;

class Executor {
 public:
  explicit Executor(int threads);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // After Close the task is called at once, here.
  void Post(Task task);

  // Tasks that wait get `status`, which isn't OK. The first call counts.
  void Close(absl::Status status);
  // Waits until all tasks that were posted before Close have been called.
  void Join();

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  absl::Status closed_;
  std::vector<std::thread> threads_;
};

}  // namespace casement::runtime

#endif  // CASEMENT_SERVER_RUNTIME_EXECUTOR_H_
