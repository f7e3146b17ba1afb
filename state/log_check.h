// Tells a torn LevelDB log from a damaged one. LevelDB takes a last record that
// runs past the end of the file for torn, and drops it and all that follows in
// its block without a word; a single changed byte in a record's length looks
// the same to it.
#ifndef CASEMENT_STATE_LOG_CHECK_H_
#define CASEMENT_STATE_LOG_CHECK_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "leveldb/env.h"

namespace casement::state {

// Looks at the end of each log and of the manifest of a LevelDB directory.
// DATA_LOSS names a file whose end was not torn by a stopped write but damaged,
// or that is missing.
absl::Status CheckLogEnds(leveldb::Env* env, const std::string& dir);

// The same for the last block of one log.
bool IsDamagedLogEnd(absl::string_view last_block);

}  // namespace casement::state

#endif  // CASEMENT_STATE_LOG_CHECK_H_
