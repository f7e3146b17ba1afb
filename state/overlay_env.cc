#include "state/overlay_env.h"

#include <set>

#include "leveldb/helpers/memenv.h"

namespace casement::state {
namespace {

// Where what is appended to a real file goes: nobody reads it.
class Sink : public leveldb::WritableFile {
 public:
  leveldb::Status Append(const leveldb::Slice&) override {
    return leveldb::Status::OK();
  }
  leveldb::Status Close() override { return leveldb::Status::OK(); }
  leveldb::Status Flush() override { return leveldb::Status::OK(); }
  leveldb::Status Sync() override { return leveldb::Status::OK(); }
};

}  // namespace

struct OverlayEnv::Work {
  OverlayEnv* env;
  void (*function)(void*);
  void* argument;
};

OverlayEnv::OverlayEnv(leveldb::Env* base)
    : leveldb::EnvWrapper(base), memory_(leveldb::NewMemEnv(base)) {}

OverlayEnv::~OverlayEnv() { Close(); }

void OverlayEnv::Close() {
  std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  closed_changed_.notify_all();
}

std::string OverlayEnv::last_read() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return last_read_;
}

bool OverlayEnv::InMemory(const std::string& name) {
  return memory_->FileExists(name);
}

leveldb::Status OverlayEnv::NewSequentialFile(const std::string& name,
                                              leveldb::SequentialFile** file) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    last_read_ = name;
  }
  return InMemory(name) ? memory_->NewSequentialFile(name, file)
                        : target()->NewSequentialFile(name, file);
}

leveldb::Status OverlayEnv::NewRandomAccessFile(
    const std::string& name, leveldb::RandomAccessFile** file) {
  return InMemory(name) ? memory_->NewRandomAccessFile(name, file)
                        : target()->NewRandomAccessFile(name, file);
}

leveldb::Status OverlayEnv::NewWritableFile(const std::string& name,
                                            leveldb::WritableFile** file) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) {
      *file = nullptr;
      return leveldb::Status::IOError(name, "closed");
    }
  }
  return memory_->NewWritableFile(name, file);
}

leveldb::Status OverlayEnv::NewAppendableFile(const std::string&,
                                              leveldb::WritableFile** file) {
  *file = new Sink();
  return leveldb::Status::OK();
}

bool OverlayEnv::FileExists(const std::string& name) {
  return memory_->FileExists(name) || target()->FileExists(name);
}

leveldb::Status OverlayEnv::GetChildren(const std::string& dir,
                                        std::vector<std::string>* names) {
  leveldb::Status status = target()->GetChildren(dir, names);
  if (!status.ok()) return status;
  std::set<std::string> all(names->begin(), names->end());
  std::vector<std::string> added;
  status = memory_->GetChildren(dir, &added);
  all.insert(added.begin(), added.end());
  names->assign(all.begin(), all.end());
  return status;
}

leveldb::Status OverlayEnv::RemoveFile(const std::string& name) {
  if (InMemory(name)) return memory_->RemoveFile(name);
  return leveldb::Status::OK();
}

leveldb::Status OverlayEnv::CreateDir(const std::string&) {
  return leveldb::Status::OK();
}

leveldb::Status OverlayEnv::RemoveDir(const std::string&) {
  return leveldb::Status::OK();
}

leveldb::Status OverlayEnv::GetFileSize(const std::string& name,
                                        uint64_t* size) {
  return InMemory(name) ? memory_->GetFileSize(name, size)
                        : target()->GetFileSize(name, size);
}

leveldb::Status OverlayEnv::RenameFile(const std::string& from,
                                       const std::string& to) {
  return memory_->RenameFile(from, to);
}

leveldb::Status OverlayEnv::LockFile(const std::string& name,
                                     leveldb::FileLock** lock) {
  return memory_->LockFile(name, lock);
}

leveldb::Status OverlayEnv::UnlockFile(leveldb::FileLock* lock) {
  return memory_->UnlockFile(lock);
}

void OverlayEnv::RunAfterClose(void* pointer) {
  const Work work = *static_cast<Work*>(pointer);
  delete static_cast<Work*>(pointer);
  {
    std::unique_lock<std::mutex> lock(work.env->mutex_);
    work.env->closed_changed_.wait(lock, [&] { return work.env->closed_; });
  }
  // The database waits for this, and the environment outlives the database, so
  // nothing of the environment may be touched after it.
  work.function(work.argument);
}

void OverlayEnv::Schedule(void (*function)(void*), void* argument) {
  target()->StartThread(&OverlayEnv::RunAfterClose,
                        new Work{this, function, argument});
}

}  // namespace casement::state
