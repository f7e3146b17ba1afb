// How the server is stopped: a signal is waited for in a thread of its own, so
// nothing runs in a handler; then everything ends in order, under a watchdog
// that ends the process if that takes too long.
#ifndef CASEMENT_SERVER_DRAIN_H_
#define CASEMENT_SERVER_DRAIN_H_

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "server/rpc/server.h"
#include "server/runtime/runtime.h"

namespace casement {

// SIGTERM and SIGINT, from the first on. Make it before any other thread, so
// that all threads have them blocked.
class StopSignal {
 public:
  StopSignal();
  void Wait() const;
  bool given() const;

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool given = false;  // guarded by mutex
  };
  // Shared with the thread, which lives as long as the process.
  std::shared_ptr<State> state_;
};

// Ends the process with kExitOther unless destroyed before the limit.
class Watchdog {
 public:
  explicit Watchdog(std::chrono::milliseconds limit);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool over = false;  // guarded by mutex
  };
  std::shared_ptr<State> state_;
};

// Health first, then `delay` for balancers to see it, then the calls, then the
// runtime. When it returns all that was acknowledged, and all that was taken,
// is durable, and the store is closed.
void DrainAll(rpc::RpcServer* server, runtime::Runtime* runtime,
              std::chrono::milliseconds delay);

}  // namespace casement

#endif  // CASEMENT_SERVER_DRAIN_H_
