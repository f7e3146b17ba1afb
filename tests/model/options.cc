#include "tests/model/options.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace casement::model {
namespace {

std::optional<uint64_t> seed_asked;
volatile std::sig_atomic_t seed_high = 0;
volatile std::sig_atomic_t seed_low = 0;

std::optional<uint64_t> FromEnvironment(const char* name) {
  const char* text = std::getenv(name);
  uint64_t value = 0;
  if (text == nullptr || !absl::SimpleAtoi(text, &value)) return std::nullopt;
  return value;
}

void TellSeed(int signal) {
  uint64_t seed =
      (static_cast<uint64_t>(static_cast<uint32_t>(seed_high)) << 32) |
      static_cast<uint32_t>(seed_low);
  char text[] = "\ndied at seed 00000000000000000000\n";
  for (char* digit = text + sizeof(text) - 3; *digit != ' '; --digit) {
    *digit = static_cast<char>('0' + seed % 10);
    seed /= 10;
  }
  if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0) _exit(2);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

void ParseOptions(int argc, char** argv) {
  seed_asked = FromEnvironment("CASEMENT_SEED");
  for (int i = 1; i < argc; ++i) {
    absl::string_view argument = argv[i];
    uint64_t seed = 0;
    if (absl::ConsumePrefix(&argument, "--seed=") &&
        absl::SimpleAtoi(argument, &seed)) {
      seed_asked = seed;
    }
  }
}

void ForEachSeed(int runs, const std::function<void(uint64_t seed)>& run) {
  uint64_t first = FromEnvironment("CASEMENT_FIRST_SEED").value_or(1);
  uint64_t count = FromEnvironment("CASEMENT_RUNS").value_or(runs);
  if (seed_asked.has_value()) {
    first = *seed_asked;
    count = 1;
  }
  std::signal(SIGSEGV, TellSeed);
  std::signal(SIGABRT, TellSeed);
  std::signal(SIGFPE, TellSeed);
  int failures = 0;
  for (uint64_t seed = first; seed < first + count && failures < 3; ++seed) {
    seed_high = static_cast<int>(seed >> 32);
    seed_low = static_cast<int>(seed & 0xffffffff);
    const int before = testing::UnitTest::GetInstance()
                           ->current_test_info()
                           ->result()
                           ->total_part_count();
    testing::ScopedTrace trace(__FILE__, __LINE__,
                               absl::StrCat("--seed=", seed));
    run(seed);
    const int after = testing::UnitTest::GetInstance()
                          ->current_test_info()
                          ->result()
                          ->total_part_count();
    if (after > before) ++failures;
  }
}

}  // namespace casement::model
