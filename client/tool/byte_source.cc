#include "client/tool/byte_source.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace casement::tool {
namespace {

constexpr size_t kReadBytes = 1 << 16;
// So many bytes before a place make its check.
constexpr size_t kCheckBytes = 64;
constexpr char kFormat[] = "casement-file-1";

// FNV-1a. It is stored, so it may never change.
uint64_t Check(absl::string_view bytes) {
  uint64_t hash = 14695981039346656037ULL;
  for (const char c : bytes) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ULL;
  }
  return hash;
}

}  // namespace

std::string PlaceText(const Place& place) {
  return absl::StrCat(kFormat, " ", place.offset, " ", place.line, " ",
                      absl::Hex(place.check));
}

absl::StatusOr<Place> PlaceFromText(absl::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ' ');
  Place place;
  if (parts.size() == 4 && parts[0] == kFormat &&
      absl::SimpleAtoi(parts[1], &place.offset) &&
      absl::SimpleAtoi(parts[2], &place.line) &&
      absl::SimpleHexAtoi(parts[3], &place.check) && place.offset >= 0 &&
      place.line >= 1) {
    return place;
  }
  return absl::FailedPreconditionError(
      "this producer was used by another program, or for standard input: "
      "choose another --producer");
}

bool ByteSource::Fill() {
  if (!status_.ok()) return false;
  if (at_ > kCheckBytes) {
    const size_t drop = at_ - kCheckBytes;
    buffer_.erase(0, drop);
    at_ -= drop;
    start_ += static_cast<int64_t>(drop);
  }
  const size_t before = buffer_.size();
  buffer_.resize(before + kReadBytes);
  ssize_t got = 0;
  do {
    got = read(fd_, buffer_.data() + before, kReadBytes);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    status_ = absl::UnknownError(
        absl::StrCat("can't read the input: ", std::strerror(errno)));
  }
  buffer_.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return got > 0;
}

void ByteSource::SkipByteOrderMark() {
  constexpr absl::string_view kMark = "\xEF\xBB\xBF";
  if (Peek() == kEnd || buffer_.compare(at_, kMark.size(), kMark.data()) != 0) {
    return;
  }
  at_ += kMark.size();
}

Place ByteSource::place() const {
  const size_t bytes = std::min(at_, kCheckBytes);
  return {offset(), line_,
          Check(absl::string_view(buffer_.data() + at_ - bytes, bytes))};
}

absl::Status ByteSource::Seek(const Place& place) {
  struct stat info = {};
  if (fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) {
    return absl::FailedPreconditionError(
        "only a regular file can be gone on with");
  }
  if (info.st_size < place.offset) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the file has ", info.st_size, " bytes, but ", place.offset,
        " were sent already: it is another file, or was cut; choose another "
        "--producer to send it as a new one"));
  }
  const auto bytes = static_cast<size_t>(
      std::min<int64_t>(place.offset, static_cast<int64_t>(kCheckBytes)));
  std::string tail(bytes, '\0');
  const off_t from = place.offset - static_cast<int64_t>(bytes);
  if (pread(fd_, tail.data(), bytes, from) != static_cast<ssize_t>(bytes) ||
      lseek(fd_, place.offset, SEEK_SET) != place.offset) {
    return absl::UnknownError(
        absl::StrCat("can't read the input: ", std::strerror(errno)));
  }
  if (Check(tail) != place.check) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the file has changed before byte ", place.offset,
        ", up to where it was sent already: choose another --producer to send "
        "it as a new one"));
  }
  if (bytes > 0 && info.st_size > place.offset && tail.back() != '\n') {
    return absl::FailedPreconditionError(absl::StrCat(
        "the file has grown, but the last line that was sent, which ended at "
        "byte ",
        place.offset, ", was not complete then"));
  }
  buffer_ = tail;
  at_ = bytes;
  start_ = from;
  line_ = place.line;
  return absl::OkStatus();
}

}  // namespace casement::tool
