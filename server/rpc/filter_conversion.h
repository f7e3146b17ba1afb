// A view's event filter. This release has none, but checks what is asked for.
#ifndef CASEMENT_SERVER_RPC_FILTER_CONVERSION_H_
#define CASEMENT_SERVER_RPC_FILTER_CONVERSION_H_

#include "absl/strings/string_view.h"
#include "casement/v1/value.pb.h"
#include "server/engine/spec.h"
#include "server/rpc/field_errors.h"

namespace casement::rpc {

void CheckFilter(absl::string_view path, const v1::FieldFilter& filter,
                 const engine::StreamSpec& stream, FieldErrors* errors);

// Whether a value, if it isn't null, is of this type.
bool HasType(const v1::Value& value, engine::FieldType type);

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_FILTER_CONVERSION_H_
