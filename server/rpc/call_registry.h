// The calls under way. Those that last (streams, and reads that wait) are told
// on a drain to come to their end: without that the server's shutdown would
// wait for them. Of the others it is enough to know how many there are.
#ifndef CASEMENT_SERVER_RPC_CALL_REGISTRY_H_
#define CASEMENT_SERVER_RPC_CALL_REGISTRY_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

namespace casement::rpc {

class LongCall {
 public:
  virtual ~LongCall() = default;
  // Say what is to be said and finish. May be called from any thread, and after
  // the call's end.
  virtual void Drain() = 0;
};

class CallRegistry {
 public:
  // A place in the registry; leaves it when destroyed.
  class Registration {
   public:
    Registration() = default;
    Registration(Registration&& other) noexcept;
    Registration& operator=(Registration&& other) noexcept;
    ~Registration();

   private:
    friend class CallRegistry;
    using Place = std::list<std::weak_ptr<LongCall>>::iterator;
    Registration(CallRegistry* registry, Place place)
        : registry_(registry), place_(place) {}
    CallRegistry* registry_ = nullptr;
    Place place_;
  };

  // A call that comes after DrainAll is told to drain at once.
  Registration Add(const std::shared_ptr<LongCall>& call);

  // A call that answers by itself, soon.
  void BeginShort();
  void EndShort();

  // Tells all calls that last, with no lock held.
  void DrainAll();

  // False if calls of either kind are still there when the time is over.
  bool WaitUntilEmpty(std::chrono::milliseconds limit);

  size_t size() const;

 private:
  void Remove(Registration::Place place);

  mutable std::mutex mutex_;
  std::condition_variable emptied_;
  bool draining_ = false;                     // guarded by mutex_
  int short_calls_ = 0;                       // guarded by mutex_
  std::list<std::weak_ptr<LongCall>> calls_;  // guarded by mutex_
};

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_CALL_REGISTRY_H_
