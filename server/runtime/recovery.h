// From the store to running streams: each is loaded from its checkpoint, and
// the journal's records after it are folded. What comes out again is compared
// with what the store has, and what the store lacks is written. A stream whose
// records or results do not fit is set aside with DATA_LOSS; the others run.
#ifndef CASEMENT_SERVER_RUNTIME_RECOVERY_H_
#define CASEMENT_SERVER_RUNTIME_RECOVERY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/engine/spec.h"
#include "server/engine/stream.h"
#include "server/runtime/publication.h"
#include "state/store.h"

namespace casement::runtime {

struct RecoveredStream {
  state::StoredStream stored;
  engine::StreamDefinition definition;
  std::unique_ptr<engine::Stream> stream;  // null if broken
  absl::Status broken;
  int64_t folded = 0;  // records
};

class Recovery {
 public:
  explicit Recovery(state::Store* store) : store_(store), writer_(store) {}

  // By number. Fails for what concerns the whole store.
  absl::StatusOr<std::vector<RecoveredStream>> Run();

 private:
  struct Work {
    RecoveredStream* recovered = nullptr;
    std::unique_ptr<PublicationVerifier> verifier;
    engine::Changes changes;
  };

  absl::Status Load(const state::StoredStream& stored,
                    RecoveredStream* recovered) const;
  absl::Status Fold(state::RecordNumber number,
                    const state::JournalRecord& record, Work* work);
  absl::Status Finish(Work* work);

  state::Store* const store_;
  state::StoreWriter writer_;
};

}  // namespace casement::runtime

#endif  // CASEMENT_SERVER_RUNTIME_RECOVERY_H_
