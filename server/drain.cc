#include "server/drain.h"

#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <thread>

#include "server/options.h"

namespace casement {
namespace {

constexpr std::chrono::milliseconds kForCalls(5'000);
// A drain takes at most half of this; more means that something hangs.
constexpr std::chrono::milliseconds kForAll(20'000);

}  // namespace

StopSignal::StopSignal() : state_(std::make_shared<State>()) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals, state = state_] {
    while (true) {
      int number = 0;
      if (sigwait(&signals, &number) != 0) continue;
      std::lock_guard lock(state->mutex);
      // Later ones change nothing: a drain is under way.
      if (state->given) continue;
      spdlog::info("stopping on {}", number == SIGINT ? "SIGINT" : "SIGTERM");
      state->given = true;
      state->changed.notify_all();
    }
  }).detach();
}

void StopSignal::Wait() const {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->given; });
}

bool StopSignal::given() const {
  std::lock_guard lock(state_->mutex);
  return state_->given;
}

Watchdog::Watchdog(std::chrono::milliseconds limit)
    : state_(std::make_shared<State>()) {
  std::thread([limit, state = state_] {
    std::unique_lock lock(state->mutex);
    if (state->changed.wait_for(lock, limit, [&] { return state->over; })) {
      return;
    }
    spdlog::critical(
        "the stop hangs: ending the process; what was "
        "acknowledged is kept");
    _exit(kExitOther);
  }).detach();
}

Watchdog::~Watchdog() {
  std::lock_guard lock(state_->mutex);
  state_->over = true;
  state_->changed.notify_all();
}

void DrainAll(rpc::RpcServer* server, runtime::Runtime* runtime,
              std::chrono::milliseconds delay) {
  const Watchdog watchdog(delay + kForAll);
  server->AnnounceDrain();
  if (delay.count() > 0) {
    spdlog::info("serving on for {} ms", delay.count());
    std::this_thread::sleep_for(delay);
  }
  server->Drain(kForCalls);
  spdlog::info("all calls have ended");
  runtime->Drain();
}

}  // namespace casement
