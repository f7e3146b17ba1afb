// A file system on which nothing happens: reads see the real files, writes go
// to memory and vanish with the object. A LevelDB that is opened on it looks
// at a directory, replays its logs and checks them, and leaves every byte as
// it was.
#ifndef CASEMENT_STATE_OVERLAY_ENV_H_
#define CASEMENT_STATE_OVERLAY_ENV_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "leveldb/env.h"

namespace casement::state {

class OverlayEnv : public leveldb::EnvWrapper {
 public:
  explicit OverlayEnv(leveldb::Env* base);
  ~OverlayEnv() override;

  // Call it before the database on it is deleted: work in the background, which
  // waits until then, ends without doing anything.
  void Close();

  // The file that was last opened to be read from front to back: the log that a
  // failed opening stumbled over.
  std::string last_read() const;

  leveldb::Status NewSequentialFile(const std::string& name,
                                    leveldb::SequentialFile** file) override;
  leveldb::Status NewRandomAccessFile(
      const std::string& name, leveldb::RandomAccessFile** file) override;
  leveldb::Status NewWritableFile(const std::string& name,
                                  leveldb::WritableFile** file) override;
  leveldb::Status NewAppendableFile(const std::string& name,
                                    leveldb::WritableFile** file) override;
  bool FileExists(const std::string& name) override;
  leveldb::Status GetChildren(const std::string& dir,
                              std::vector<std::string>* names) override;
  leveldb::Status RemoveFile(const std::string& name) override;
  leveldb::Status CreateDir(const std::string& dir) override;
  leveldb::Status RemoveDir(const std::string& dir) override;
  leveldb::Status GetFileSize(const std::string& name, uint64_t* size) override;
  leveldb::Status RenameFile(const std::string& from,
                             const std::string& to) override;
  leveldb::Status LockFile(const std::string& name,
                           leveldb::FileLock** lock) override;
  leveldb::Status UnlockFile(leveldb::FileLock* lock) override;
  void Schedule(void (*function)(void*), void* argument) override;

 private:
  struct Work;

  bool InMemory(const std::string& name);
  static void RunAfterClose(void* work);

  std::unique_ptr<leveldb::Env> memory_;
  mutable std::mutex mutex_;
  std::condition_variable closed_changed_;
  bool closed_ = false;
  std::string last_read_;
};

}  // namespace casement::state

#endif  // CASEMENT_STATE_OVERLAY_ENV_H_
