// Reads CSV as RFC 4180 has it: quoted fields, doubled quotes, line ends inside
// quotes; lines may end with CRLF or LF, the last one with nothing. By hand,
// since resuming needs the exact byte and line of each record, which the
// packaged readers do not tell. The one invariant: a record that is malformed
// is reported as such and never taken for another one.

#ifndef CASEMENT_CLIENT_TOOL_CSV_READER_H_
#define CASEMENT_CLIENT_TOOL_CSV_READER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/tool/byte_source.h"

namespace casement::tool {

struct CsvText {
  std::string text;
  // An empty field in quotes is an empty text, one without is nothing.
  bool quoted = false;
};

struct CsvRecord {
  std::vector<CsvText> fields;
  // Of its first byte.
  int64_t line = 0;
  // Not empty: the record is malformed, and this is how. It ends at the end of
  // its line.
  std::string fault;
};

class CsvReader {
 public:
  explicit CsvReader(ByteSource* source) : source_(source) {}

  // False at the end. Empty lines are skipped. An error is one that makes all
  // that follows doubtful: a quote that is never closed, or the input itself.
  absl::StatusOr<bool> Next(CsvRecord* record);

 private:
  absl::Status ReadField(CsvRecord* record);
  absl::Status ReadQuoted(CsvRecord* record, CsvText* field);
  void SkipLine();
  // Takes a line end if one is there.
  bool TakeLineEnd();
  bool AtLineEnd();

  ByteSource* const source_;
};

}  // namespace casement::tool

#endif  // CASEMENT_CLIENT_TOOL_CSV_READER_H_
