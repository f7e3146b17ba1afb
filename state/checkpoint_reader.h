// Reads the chunks of a checkpoint in the order in which they were saved, and
// notices if one is missing.
#ifndef CASEMENT_STATE_CHECKPOINT_READER_H_
#define CASEMENT_STATE_CHECKPOINT_READER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "state/format.h"

namespace leveldb {
class Iterator;
}  // namespace leveldb

namespace casement::state {

class Database;

class CheckpointReader {
 public:
  // The database must outlive it.
  CheckpointReader(const Database& database, uint32_t stream,
                   const CheckpointMark& mark);
  ~CheckpointReader();

  // The next chunk; nothing at the end. DATA_LOSS for a damaged or missing one.
  absl::StatusOr<std::optional<std::string>> Next();

 private:
  const Database& database_;
  const uint32_t stream_;
  const CheckpointMark mark_;
  uint32_t next_ = 0;
  std::string prefix_;
  std::unique_ptr<leveldb::Iterator> iterator_;
};

}  // namespace casement::state

#endif  // CASEMENT_STATE_CHECKPOINT_READER_H_
