// Stream and view definitions from flags and files. What this is for: the same
// protos that the API takes, written short. The one invariant: a file is read
// first and flags are put on top; nothing is filled in that was not said.

#ifndef CASEMENT_CLIENT_TOOL_DEFINITIONS_H_
#define CASEMENT_CLIENT_TOOL_DEFINITIONS_H_

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "casement/v1/definition.pb.h"
#include "client/tool/options.h"

namespace casement::tool {

// Reads text-proto, or JSON if the name ends so or the text begins with a
// brace. Errors name file, line and column.
absl::Status ReadDefinition(const std::string& path,
                            google::protobuf::Message* message);

absl::StatusOr<v1::Stream> StreamDefinition(const StreamCreateOptions& options);
absl::StatusOr<v1::View> ViewDefinition(const ViewCreateOptions& options);

// "name:type[:required]"
absl::StatusOr<v1::FieldSpec> ParseField(absl::string_view text);
// "tumbling:1d+6h", "sliding:1h/15m", "session:30m/1d"
absl::StatusOr<v1::WindowSpec> ParseWindow(absl::string_view text);
// "count", "sum:delay_min", "sum:delay_min=delay"
absl::StatusOr<v1::AggregateSpec> ParseAggregate(absl::string_view text);

}  // namespace casement::tool

#endif  // CASEMENT_CLIENT_TOOL_DEFINITIONS_H_
