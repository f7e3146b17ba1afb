#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <string>

#include "server/engine/stream.h"
#include "tests/model/driver.h"
#include "tests/model/fingerprint.h"
#include "tests/model/generator.h"
#include "tests/model/options.h"

namespace casement::model {
namespace {

// FNV-1a: the same in every process.
uint64_t Digest(uint64_t digest, const std::string& text) {
  for (const char byte : text) {
    digest = (digest ^ static_cast<uint8_t>(byte)) * 1099511628211u;
  }
  return digest;
}

// One line a script, for another process to compare.
void PrintFingerprints() {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const Script script = Generate(seed);
    engine::Stream stream(script.spec);
    uint64_t digest = 14695981039346656037u;
    FoldScript(
        script, /*want_fates=*/true, &stream,
        [&digest](const engine::Record&, const engine::Changes& changes) {
          digest = Digest(digest, Fingerprint(changes));
        });
    digest = Digest(digest, Fingerprint(stream));
    std::printf("%d %016llx\n", static_cast<int>(seed),
                static_cast<unsigned long long>(digest));
  }
}

}  // namespace
}  // namespace casement::model

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && std::strcmp(argv[1], "--print_fingerprints") == 0) {
    casement::model::PrintFingerprints();
    return 0;
  }
  casement::model::ParseOptions(argc, argv);
  return RUN_ALL_TESTS();
}
