// Resource names: "streams/{stream}", "streams/{stream}/views/{view}" and
// "streams/{stream}/producers/{producer}". What is not of the form, or holds an
// id that no resource can have, is INVALID_ARGUMENT and names the field that it
// came in.
#ifndef CASEMENT_SERVER_RPC_NAMES_H_
#define CASEMENT_SERVER_RPC_NAMES_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace casement::rpc {

// A view's or a producer's id with its stream's.
struct ChildName {
  std::string stream;
  std::string id;
};

std::string StreamName(absl::string_view stream);
std::string ViewName(absl::string_view stream, absl::string_view view);
std::string ProducerName(absl::string_view stream, absl::string_view producer);

absl::StatusOr<std::string> ParseStreamName(absl::string_view field,
                                            absl::string_view name);
absl::StatusOr<ChildName> ParseViewName(absl::string_view field,
                                        absl::string_view name);
absl::StatusOr<ChildName> ParseProducerName(absl::string_view field,
                                            absl::string_view name);

// What an id may look like, for people.
inline constexpr char kIdRule[] =
    "must be lower-case letters, digits and hyphens, at most 63, beginning "
    "with a letter and not ending with a hyphen";

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_NAMES_H_
