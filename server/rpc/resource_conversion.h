// What streams and views have alike: the name and labels that a user hangs on
// them.
#ifndef CASEMENT_SERVER_RPC_RESOURCE_CONVERSION_H_
#define CASEMENT_SERVER_RPC_RESOURCE_CONVERSION_H_

#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "google/protobuf/map.h"
#include "server/rpc/field_errors.h"

namespace casement::rpc {

inline constexpr int kMaxDisplayNameBytes = 256;
inline constexpr int kMaxLabels = 64;
inline constexpr int kMaxLabelKeyBytes = 63;
inline constexpr int kMaxLabelValueBytes = 256;

// `path` is the resource's in its request.
std::map<std::string, std::string> ToLabels(
    absl::string_view path,
    const google::protobuf::Map<std::string, std::string>& labels,
    FieldErrors* errors);

void CheckDisplayName(absl::string_view path, absl::string_view name,
                      FieldErrors* errors);

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_RESOURCE_CONVERSION_H_
