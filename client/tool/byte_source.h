// Bytes of a file or of standard input, with the place they are at. What this
// is for: readers that can say "byte 1234, line 56" and go on there in another
// run. The one invariant: the offset counts every byte that was taken, also a
// byte order mark and what the reader skips.

#ifndef CASEMENT_CLIENT_TOOL_BYTE_SOURCE_H_
#define CASEMENT_CLIENT_TOOL_BYTE_SOURCE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace casement::tool {

// Where an input stands: so many bytes were taken, and `line` (from 1) is the
// next. The check is of the bytes right before, so that another file of the
// same name is told from one that has grown.
struct Place {
  int64_t offset = 0;
  int64_t line = 1;
  uint64_t check = 0;
};

// As text, for `Batch.source_position`.
std::string PlaceText(const Place& place);
absl::StatusOr<Place> PlaceFromText(absl::string_view text);

// Does not own the descriptor.
class ByteSource {
 public:
  static constexpr int kEnd = -1;

  explicit ByteSource(int fd) : fd_(fd) {}

  // The next byte, or kEnd: at the end, or after an error, which status()
  // tells.
  int Get() {
    if (at_ == buffer_.size() && !Fill()) return kEnd;
    const auto byte = static_cast<unsigned char>(buffer_[at_++]);
    if (byte == '\n') ++line_;
    return byte;
  }
  int Peek() {
    if (at_ == buffer_.size() && !Fill()) return kEnd;
    return static_cast<unsigned char>(buffer_[at_]);
  }
  // The byte after that.
  int PeekSecond() {
    if (at_ + 1 >= buffer_.size() && !Fill()) return kEnd;
    if (at_ + 1 >= buffer_.size()) return kEnd;
    return static_cast<unsigned char>(buffer_[at_ + 1]);
  }

  // Skips a UTF-8 byte order mark; to be called at the very start.
  void SkipByteOrderMark();

  int64_t line() const { return line_; }
  int64_t offset() const { return start_ + static_cast<int64_t>(at_); }
  Place place() const;
  const absl::Status& status() const { return status_; }

  // Goes on at a place of an earlier run. FAILED_PRECONDITION: the file is
  // shorter, or other bytes are before the place.
  absl::Status Seek(const Place& place);

 private:
  // Takes more into the buffer; false at the end.
  bool Fill();

  const int fd_;
  // What was read, from `start_` of the input on: the last few bytes taken,
  // and those not taken yet.
  std::string buffer_;
  size_t at_ = 0;
  int64_t start_ = 0;
  int64_t line_ = 1;
  absl::Status status_;
};

}  // namespace casement::tool

#endif  // CASEMENT_CLIENT_TOOL_BYTE_SOURCE_H_
