#include "server/runtime/executor.h"

#include <utility>

namespace casement::runtime {

Executor::Executor(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

Executor::~Executor() {
  Close(absl::CancelledError("closed"));
  Join();
}

void Executor::Post(Task task) {
  absl::Status closed;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed = closed_;
    if (closed.ok()) {
      tasks_.push_back(std::move(task));
      changed_.notify_one();
      return;
    }
  }
  task(closed);
}

void Executor::Close(absl::Status status) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!closed_.ok()) return;
  closed_ = std::move(status);
  changed_.notify_all();
}

void Executor::Join() {
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void Executor::Run() {
  while (true) {
    Task task;
    absl::Status closed;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [&] { return !tasks_.empty() || !closed_.ok(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
      closed = closed_;
    }
    task(closed);
  }
}

}  // namespace casement::runtime
