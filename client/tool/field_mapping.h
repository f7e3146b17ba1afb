// Which column of an input is which field of the stream. What this is for:
// --field, and the same names where nothing is said. The one invariant: each
// field comes from one column at most, and a field that the stream requires
// has one.

#ifndef CASEMENT_CLIENT_TOOL_FIELD_MAPPING_H_
#define CASEMENT_CLIENT_TOOL_FIELD_MAPPING_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "casement/v1/definition.pb.h"
#include "client/tool/options.h"

namespace casement::tool {

struct MappedField {
  std::string column;
  v1::FieldSpec field;
};

struct FieldMapping {
  // Empty: events have no time of their own (a stream of arrival times).
  std::string time_column;
  std::string id_column;
  std::vector<MappedField> fields;

  // "scheduled is the event time; fields origin, delay_min=delay"
  std::string Text() const;
};

// Every field of the stream is mapped from the column that --field names, or
// from the one of its own name.
absl::StatusOr<FieldMapping> MapFields(const v1::Stream& stream,
                                       const IngestOptions& options);

}  // namespace casement::tool

#endif  // CASEMENT_CLIENT_TOOL_FIELD_MAPPING_H_
