// A disk that fails when told to, for tests: from some operation on all writes
// fail, the first of them torn in the middle, until it is healed; and what was
// not synced can be dropped, as a power cut does.
#ifndef CASEMENT_STATE_FAULT_ENV_H_
#define CASEMENT_STATE_FAULT_ENV_H_

#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <string>

#include "leveldb/env.h"

namespace casement::state {

class FaultEnv : public leveldb::EnvWrapper {
 public:
  FaultEnv() : leveldb::EnvWrapper(leveldb::Env::Default()) {}

  // The operation after `operations` more fails, and all after it.
  void FailAfter(int64_t operations);
  // Likewise for syncs only; what is written stays.
  void FailSyncsAfter(int64_t syncs);
  void Heal();
  // Whether an operation has failed since the last FailAfter.
  bool has_failed() const;
  int64_t syncs() const;

  // Cuts every file that was written through this object back to what was
  // synced. All files must be closed.
  void DropUnsynced();

  leveldb::Status NewWritableFile(const std::string& name,
                                  leveldb::WritableFile** file) override;
  leveldb::Status NewAppendableFile(const std::string& name,
                                    leveldb::WritableFile** file) override;
  leveldb::Status CreateDir(const std::string& name) override;
  leveldb::Status RenameFile(const std::string& from,
                             const std::string& to) override;
  leveldb::Status RemoveFile(const std::string& name) override;

 private:
  class File;
  struct Length {
    uint64_t written = 0;
    uint64_t synced = 0;
  };

  // Counts an operation; false if it is to fail.
  bool Allow();
  bool AllowSync();
  leveldb::Status Wrap(const std::string& name, uint64_t length,
                       leveldb::WritableFile* inner,
                       leveldb::WritableFile** file);

  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  mutable std::mutex mutex_;
  int64_t operations_left_ = kNever;
  int64_t syncs_left_ = kNever;
  int64_t syncs_ = 0;
  bool has_failed_ = false;
  std::map<std::string, Length> lengths_;
};

}  // namespace casement::state

#endif  // CASEMENT_STATE_FAULT_ENV_H_
