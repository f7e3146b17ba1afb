// Encoded keys: the bytes that a key is known by everywhere in the engine and
// the store. They order as the parts do, nulls first, and no key is the
// beginning of another.
//
//   key  := part*
//   part := 0                        null
//         | 1 int64:8                big-endian, sign bit flipped
//         | 2 double:8               ordered bits; one zero, one NaN (greatest)
//         | 3 bool:1
//         | 4 text 0 1               a zero byte in the text is 0 255
//         | 5 bytes 0 1              likewise
#ifndef CASEMENT_SERVER_ENGINE_KEY_CODEC_H_
#define CASEMENT_SERVER_ENGINE_KEY_CODEC_H_

#include <string>
#include <vector>

#include "server/engine/batch.h"
#include "server/engine/spec.h"

namespace casement::engine {

// -0.0 becomes 0.0, and every NaN one NaN.
double Canonical(double value);

// Appends the part that row `row` has in `column`.
void AppendKeyPart(const EventBatch& batch, const Column& column,
                   FieldType type, int row, std::string* key);

// A stable hash of an encoded key: the partition it is stored in.
inline constexpr uint32_t kPartitions = 64;
uint32_t PartitionOf(absl::string_view key);

}  // namespace casement::engine

#endif  // CASEMENT_SERVER_ENGINE_KEY_CODEC_H_
