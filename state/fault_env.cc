#include "state/fault_env.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

namespace casement::state {
namespace {

leveldb::Status DiskFull(const std::string& name) {
  return leveldb::Status::IOError(name, "No space left on device");
}

}  // namespace

class FaultEnv::File : public leveldb::WritableFile {
 public:
  File(FaultEnv* env, std::string name, leveldb::WritableFile* inner)
      : env_(env), name_(std::move(name)), inner_(inner) {}

  leveldb::Status Append(const leveldb::Slice& data) override {
    if (env_->Allow()) {
      const leveldb::Status status = inner_->Append(data);
      Count(data.size());
      return status;
    }
    if (!torn_) {
      torn_ = true;
      inner_->Append(leveldb::Slice(data.data(), data.size() / 2));
      inner_->Flush();
      Count(data.size() / 2);
    }
    return DiskFull(name_);
  }
  leveldb::Status Close() override { return inner_->Close(); }
  leveldb::Status Flush() override { return inner_->Flush(); }
  leveldb::Status Sync() override {
    if (!env_->AllowSync()) return DiskFull(name_);
    const leveldb::Status status = inner_->Sync();
    std::lock_guard<std::mutex> lock(env_->mutex_);
    Length& length = env_->lengths_[name_];
    if (status.ok()) length.synced = length.written;
    return status;
  }

 private:
  void Count(uint64_t bytes) {
    std::lock_guard<std::mutex> lock(env_->mutex_);
    env_->lengths_[name_].written += bytes;
  }

  FaultEnv* const env_;
  const std::string name_;
  const std::unique_ptr<leveldb::WritableFile> inner_;
  bool torn_ = false;
};

void FaultEnv::FailAfter(int64_t operations) {
  std::lock_guard<std::mutex> lock(mutex_);
  operations_left_ = operations;
  has_failed_ = false;
}

void FaultEnv::FailSyncsAfter(int64_t syncs) {
  std::lock_guard<std::mutex> lock(mutex_);
  syncs_left_ = syncs;
  has_failed_ = false;
}

void FaultEnv::Heal() {
  std::lock_guard<std::mutex> lock(mutex_);
  operations_left_ = kNever;
  syncs_left_ = kNever;
}

bool FaultEnv::has_failed() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return has_failed_;
}

int64_t FaultEnv::syncs() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return syncs_;
}

bool FaultEnv::Allow() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (operations_left_ == kNever) return true;
  if (operations_left_ > 0) {
    --operations_left_;
    return true;
  }
  has_failed_ = true;
  return false;
}

bool FaultEnv::AllowSync() {
  if (!Allow()) return false;
  std::lock_guard<std::mutex> lock(mutex_);
  ++syncs_;
  if (syncs_left_ == kNever) return true;
  if (syncs_left_ > 0) {
    --syncs_left_;
    return true;
  }
  has_failed_ = true;
  return false;
}

void FaultEnv::DropUnsynced() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [name, length] : lengths_) {
    std::error_code error;
    if (length.synced < length.written &&
        std::filesystem::exists(name, error)) {
      std::filesystem::resize_file(name, length.synced, error);
    }
  }
  lengths_.clear();
}

leveldb::Status FaultEnv::Wrap(const std::string& name, uint64_t length,
                               leveldb::WritableFile* inner,
                               leveldb::WritableFile** file) {
  std::lock_guard<std::mutex> lock(mutex_);
  // What an earlier life wrote and did not sync is still not synced.
  const auto known = length > 0 ? lengths_.find(name) : lengths_.end();
  const uint64_t synced =
      known != lengths_.end() ? known->second.synced : length;
  lengths_[name] = Length{length, synced};
  *file = new File(this, name, inner);
  return leveldb::Status::OK();
}

leveldb::Status FaultEnv::NewWritableFile(const std::string& name,
                                          leveldb::WritableFile** file) {
  *file = nullptr;
  if (!Allow()) return DiskFull(name);
  leveldb::WritableFile* inner = nullptr;
  const leveldb::Status status = target()->NewWritableFile(name, &inner);
  return status.ok() ? Wrap(name, 0, inner, file) : status;
}

leveldb::Status FaultEnv::NewAppendableFile(const std::string& name,
                                            leveldb::WritableFile** file) {
  *file = nullptr;
  if (!Allow()) return DiskFull(name);
  uint64_t length = 0;
  target()->GetFileSize(name, &length);
  leveldb::WritableFile* inner = nullptr;
  const leveldb::Status status = target()->NewAppendableFile(name, &inner);
  return status.ok() ? Wrap(name, length, inner, file) : status;
}

leveldb::Status FaultEnv::CreateDir(const std::string& name) {
  if (!Allow()) return DiskFull(name);
  return target()->CreateDir(name);
}

leveldb::Status FaultEnv::RenameFile(const std::string& from,
                                     const std::string& to) {
  if (!Allow()) return DiskFull(from);
  const leveldb::Status status = target()->RenameFile(from, to);
  if (!status.ok()) return status;
  std::lock_guard<std::mutex> lock(mutex_);
  // A file, or all files of a directory.
  std::map<std::string, Length> moved;
  for (const auto& [name, length] : lengths_) {
    const bool below = name.compare(0, from.size() + 1, from + "/") == 0;
    const bool same = name == from;
    moved[same || below ? to + name.substr(from.size()) : name] = length;
  }
  lengths_ = std::move(moved);
  return status;
}

leveldb::Status FaultEnv::RemoveFile(const std::string& name) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    lengths_.erase(name);
  }
  return target()->RemoveFile(name);
}

}  // namespace casement::state
