// Where the threads of the stress run write down what must not have happened.
// Safe for threads. Only the first few are kept.

#ifndef CASEMENT_TESTS_CRASH_FAULTS_H_
#define CASEMENT_TESTS_CRASH_FAULTS_H_

#include <mutex>
#include <string>
#include <vector>

namespace casement::stress {

class Faults {
 public:
  void Add(const std::string& fault) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (++count_ <= 20) kept_.push_back(fault);
  }
  int count() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return count_;
  }
  // All threads end soon when this is true.
  bool any() const { return count() > 0; }
  std::vector<std::string> kept() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return kept_;
  }

 private:
  mutable std::mutex mutex_;
  int count_ = 0;
  std::vector<std::string> kept_;
};

}  // namespace casement::stress

#endif  // CASEMENT_TESTS_CRASH_FAULTS_H_
