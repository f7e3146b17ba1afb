// Files to events. What this is for: CSV and JSON lines as one thing. The one
// invariant: every record of the input comes out exactly once, as an event to
// send or as a fault to report, with its line and with the place after it.

#ifndef CASEMENT_CLIENT_TOOL_EVENT_READER_H_
#define CASEMENT_CLIENT_TOOL_EVENT_READER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "casement/v1/definition.pb.h"
#include "client/event.h"
#include "client/tool/byte_source.h"
#include "client/tool/field_parser.h"
#include "client/tool/options.h"

namespace casement::tool {

struct InputEvent {
  client::Event event;
  int64_t line = 0;
  // Not empty: no batch can hold this record, and why.
  std::string fault;
  // Not empty: what is wrong with the event; the server will reject it.
  std::string remark;
};

class EventReader {
 public:
  virtual ~EventReader() = default;
  // False at the end. An error ends the reading: what follows is doubtful.
  virtual absl::StatusOr<bool> Next(InputEvent* event) = 0;
  // Which column goes where, in one line, for the person.
  virtual std::string Mapping() const = 0;
};

// Reads the header, if there is one: to be called with the source at the
// start, before it seeks to where an earlier run stopped. INVALID_ARGUMENT:
// the columns do not fit the stream.
absl::StatusOr<std::unique_ptr<EventReader>> NewCsvEventReader(
    ByteSource* source, const v1::Stream& stream, const IngestOptions& options);

absl::StatusOr<std::unique_ptr<EventReader>> NewJsonlEventReader(
    ByteSource* source, const v1::Stream& stream, const IngestOptions& options);

}  // namespace casement::tool

#endif  // CASEMENT_CLIENT_TOOL_EVENT_READER_H_
