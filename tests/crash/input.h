// The input of the stress run: what each batch of each producer holds is worked
// out from the seed, the producer and the batch's number alone. So a batch that
// must be sent again is the same batch, a second run can be given the same
// input, and the right results can be worked out apart from any server.

#ifndef CASEMENT_TESTS_CRASH_INPUT_H_
#define CASEMENT_TESTS_CRASH_INPUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "casement/v1/ingest.pb.h"

namespace casement::stress {

inline constexpr int kProducers = 2;
inline constexpr int kKeys = 50;
inline constexpr int kEventsPerBatch = 20;
// Times of one producer are in order but for this much, which is less than
// the delay: no event is late, however the two producers' batches interleave.
inline constexpr int64_t kDisorderUs = 1'500'000;
inline constexpr int64_t kMaxDelayUs = 2'000'000;

struct InputEvent {
  int64_t time_us;
  std::string key;
  int64_t amount;
  // A multiple of a quarter, so that every sum of them is exact.
  double price;
};

// `sequence` counts from 1.
std::vector<InputEvent> InputBatch(uint64_t seed, int producer,
                                   int64_t sequence);

v1::RowBatch ToRows(const std::vector<InputEvent>& events);
v1::ColumnBatch ToColumns(const std::vector<InputEvent>& events);

}  // namespace casement::stress

#endif  // CASEMENT_TESTS_CRASH_INPUT_H_
