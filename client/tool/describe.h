// Definitions, progress and accounts for people and as JSON. What this is for:
// `describe`. The one invariant: what is unset is not shown as if it were set.

#ifndef CASEMENT_CLIENT_TOOL_DESCRIBE_H_
#define CASEMENT_CLIENT_TOOL_DESCRIBE_H_

#include <string>

#include "absl/status/statusor.h"
#include "casement/v1/admin.pb.h"
#include "casement/v1/definition.pb.h"

namespace casement::tool {

// Lines for people.
std::string DescribeStream(const v1::Stream& stream, const v1::Stats& stats);
std::string DescribeView(const v1::View& view, const v1::Stats& stats);

// {"definition":{...},"progress":{...},"accounts":{...}}
absl::StatusOr<std::string> StreamJson(v1::Stream stream,
                                       const v1::Stats& stats);
absl::StatusOr<std::string> ViewJson(v1::View view, const v1::Stats& stats);

// "tumbling, size 1d, offset 6h"
std::string WindowText(const v1::WindowSpec& window);

}  // namespace casement::tool

#endif  // CASEMENT_CLIENT_TOOL_DESCRIBE_H_
