// All that shows of a record's changes or of a stream, as text with the exact
// bytes in it: two folds are the same if their fingerprints are.
#ifndef CASEMENT_TESTS_MODEL_FINGERPRINT_H_
#define CASEMENT_TESTS_MODEL_FINGERPRINT_H_

#include <string>

#include "server/engine/stream.h"

namespace casement::model {

std::string Fingerprint(const engine::Changes& changes);

// Accounts, views, producers `p0` to `p9`, and every open window.
std::string Fingerprint(const engine::Stream& stream);

}  // namespace casement::model

#endif  // CASEMENT_TESTS_MODEL_FINGERPRINT_H_
