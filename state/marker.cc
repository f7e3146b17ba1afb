#include "state/marker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "state/format.h"
#include "state/open_error.h"
#include "state/status_macros.h"

namespace casement::state {
namespace {

// marker := "casement store\n"
//           "format " number "\n"         all later lines depend on it
//           "id " 32 hex digits "\n"
//           "state " ("making"|"ready") "\n"
constexpr char kFirstLine[] = "casement store";
constexpr char kMarker[] = "CASEMENT";
constexpr char kNewMarker[] = "CASEMENT.tmp";
constexpr char kLock[] = "CASEMENT.lock";
constexpr char kProbe[] = "CASEMENT.probe";

std::string Reason() { return strerror(errno); }

// Closes a descriptor at the end of a scope.
class ScopedFd {
 public:
  explicit ScopedFd(int fd) : fd_(fd) {}
  ~ScopedFd() {
    if (fd_ >= 0) close(fd_);
  }
  ScopedFd(const ScopedFd&) = delete;
  ScopedFd& operator=(const ScopedFd&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

bool WriteAll(int fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

absl::StatusOr<std::string> RandomId() {
  char bytes[16];
  if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)) {
    return MakeOpenError(OpenError::kOther,
                         absl::StrCat("no random numbers: ", Reason()));
  }
  return absl::BytesToHexString(absl::string_view(bytes, sizeof(bytes)));
}

}  // namespace

absl::Status SyncDirectory(const std::string& path) {
  const ScopedFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0 || fsync(fd.get()) != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot sync ", path, ": ", Reason()));
  }
  return absl::OkStatus();
}

Directory::Directory(std::string path) : path_(std::move(path)) {}

Directory::~Directory() {
  if (lock_fd_ >= 0) close(lock_fd_);
}

absl::StatusOr<std::unique_ptr<Directory>> Directory::Open(
    const std::string& path) {
  std::unique_ptr<Directory> directory(new Directory(path));
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error || !std::filesystem::is_directory(path, error)) {
    return MakeOpenError(
        OpenError::kUnwritable,
        absl::StrCat("cannot make data directory ", path, ": ",
                     error ? error.message() : "it is not a directory"));
  }
  bool found = false;
  RETURN_IF_ERROR(directory->ReadMarker(&found));
  if (!found) RETURN_IF_ERROR(directory->CheckEmpty());
  RETURN_IF_ERROR(directory->CheckWritable());
  RETURN_IF_ERROR(directory->Lock());
  // Another process may have made a store since.
  RETURN_IF_ERROR(directory->ReadMarker(&found));
  if (!found) {
    RETURN_IF_ERROR(directory->CheckEmpty());
    ASSIGN_OR_RETURN(directory->store_id_, RandomId());
    directory->format_ = kStoreFormat;
    RETURN_IF_ERROR(directory->WriteMarker());
  }
  return directory;
}

absl::Status Directory::ReadMarker(bool* found) {
  const std::string file = absl::StrCat(path_, "/", kMarker);
  const ScopedFd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  *found = fd.get() >= 0;
  if (!*found) {
    if (errno == ENOENT) return absl::OkStatus();
    return MakeOpenError(OpenError::kUnwritable,
                         absl::StrCat("cannot read ", file, ": ", Reason()));
  }
  char bytes[4096];
  const ssize_t size = read(fd.get(), bytes, sizeof(bytes));
  if (size < 0) {
    return MakeOpenError(OpenError::kCorrupt,
                         absl::StrCat("cannot read ", file, ": ", Reason()));
  }
  return ParseMarker(std::string(bytes, static_cast<size_t>(size)));
}

absl::Status Directory::ParseMarker(const std::string& text) {
  const std::string file = absl::StrCat(path_, "/", kMarker);
  const std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  if (lines[0] != kFirstLine) {
    return MakeOpenError(
        OpenError::kForeign,
        absl::StrCat(file,
                     " is not the marker of a Casement store; give "
                     "another data directory"));
  }
  absl::string_view number = lines.size() > 1 ? lines[1] : "";
  int format = 0;
  if (!absl::ConsumePrefix(&number, "format ") ||
      !absl::SimpleAtoi(number, &format)) {
    return MakeOpenError(
        OpenError::kForeign,
        absl::StrCat(file, " tells no format number; nothing was changed"));
  }
  if (format != kStoreFormat) {
    return MakeOpenError(
        OpenError::kNewerFormat,
        absl::StrCat(path_, " has store format ", format,
                     ", and this program knows format ", kStoreFormat,
                     " only; start the release that wrote it. Nothing was "
                     "changed"));
  }
  absl::string_view id = lines.size() > 2 ? lines[2] : "";
  const bool has_id = absl::ConsumePrefix(&id, "id ");
  const absl::string_view state = lines.size() > 3 ? lines[3] : "";
  if (!has_id || id.size() != 32 ||
      (state != "state making" && state != "state ready") ||
      lines.size() != 5 || !lines[4].empty()) {
    return MakeOpenError(
        OpenError::kCorrupt,
        absl::StrCat(file, " is damaged; restore it from a copy"));
  }
  format_ = format;
  store_id_ = std::string(id);
  ready_ = state == "state ready";
  return absl::OkStatus();
}

absl::Status Directory::CheckEmpty() const {
  std::error_code error;
  for (std::filesystem::directory_iterator it(path_, error), end;
       !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name == kLock || name == kNewMarker || name == "lost+found") continue;
    return MakeOpenError(
        OpenError::kForeign,
        absl::StrCat(path_, " is not empty (it holds ", name, ") and has no ",
                     kMarker,
                     " marker: it is not a Casement store. Give an empty or "
                     "new directory"));
  }
  if (error) {
    return MakeOpenError(OpenError::kUnwritable,
                         absl::StrCat("cannot read data directory ", path_,
                                      ": ", error.message()));
  }
  return absl::OkStatus();
}

absl::Status Directory::CheckWritable() const {
  for (const char* part : {"", "/state", "/journal"}) {
    const std::string dir = path_ + part;
    if (access(dir.c_str(), R_OK | W_OK | X_OK) == 0) continue;
    if (errno == ENOENT && *part != 0) continue;
    return MakeOpenError(
        OpenError::kUnwritable,
        absl::StrCat("cannot write to data directory ", dir, ": ", Reason()));
  }
  return absl::OkStatus();
}

absl::Status Directory::Lock() {
  const std::string file = absl::StrCat(path_, "/", kLock);
  ScopedFd fd(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (fd.get() < 0) {
    return MakeOpenError(OpenError::kUnwritable,
                         absl::StrCat("cannot write ", file, ": ", Reason()));
  }
  if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return MakeOpenError(
          OpenError::kInUse,
          absl::StrCat("data directory ", path_,
                       " is in use by another process; stop that one, or give "
                       "another directory"));
    }
    return MakeOpenError(
        OpenError::kOther,
        absl::StrCat("cannot lock ", file, ": ", Reason(),
                     ". Casement does not run unlocked: use a file system "
                     "with locks"));
  }
  lock_fd_ = fd.release();
  return absl::OkStatus();
}

absl::Status Directory::WriteMarker() const {
  const std::string text =
      absl::StrCat(kFirstLine, "\nformat ", format_, "\nid ", store_id_,
                   "\nstate ", ready_ ? "ready" : "making", "\n");
  const std::string file = absl::StrCat(path_, "/", kMarker);
  const std::string written = absl::StrCat(path_, "/", kNewMarker);
  const ScopedFd fd(
      open(written.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (fd.get() < 0 || !WriteAll(fd.get(), text) || fsync(fd.get()) != 0 ||
      rename(written.c_str(), file.c_str()) != 0) {
    return MakeOpenError(OpenError::kUnwritable,
                         absl::StrCat("cannot write ", file, ": ", Reason()));
  }
  return AsOpenError(SyncDirectory(path_));
}

absl::Status Directory::MarkReady() {
  ready_ = true;
  return WriteMarker();
}

absl::Status Directory::ProbeSpace(size_t bytes) const {
  const std::string file = absl::StrCat(path_, "/", kProbe);
  absl::Status status;
  {
    const ScopedFd fd(
        open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    // Written, not only reserved: some file systems promise without keeping.
    const std::string block(64 << 10, 'x');
    bool ok = fd.get() >= 0;
    for (size_t at = 0; ok && at < bytes; at += block.size()) {
      ok = WriteAll(fd.get(), block);
    }
    if (!ok || fsync(fd.get()) != 0) {
      status = absl::UnavailableError(
          absl::StrCat("cannot write to ", path_, ": ", Reason()));
    }
  }
  unlink(file.c_str());
  return status;
}

}  // namespace casement::state
