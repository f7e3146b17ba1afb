// Random choices that are the same for one seed on every machine.
#ifndef CASEMENT_TESTS_MODEL_RANDOM_H_
#define CASEMENT_TESTS_MODEL_RANDOM_H_

#include <cstdint>
#include <random>
#include <vector>

namespace casement::model {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  uint64_t Bits() { return engine_(); }
  // In [least, most], both included.
  int64_t Between(int64_t least, int64_t most) {
    const uint64_t span =
        static_cast<uint64_t>(most) - static_cast<uint64_t>(least) + 1;
    const uint64_t step = span == 0 ? Bits() : Bits() % span;
    return static_cast<int64_t>(static_cast<uint64_t>(least) + step);
  }
  // True once in `n` times.
  bool OneIn(int64_t n) { return Between(1, n) == 1; }
  bool Coin() { return OneIn(2); }
  template <typename T>
  T Pick(const std::vector<T>& from) {
    return from[Between(0, static_cast<int64_t>(from.size()) - 1)];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace casement::model

#endif  // CASEMENT_TESTS_MODEL_RANDOM_H_
