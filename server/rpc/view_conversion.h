// A view's proto <-> its engine definition. Every field is checked here or by
// engine::ValidateView; what this release can't do is UNIMPLEMENTED, never
// ignored. A view goes out with every default spelled out.
#ifndef CASEMENT_SERVER_RPC_VIEW_CONVERSION_H_
#define CASEMENT_SERVER_RPC_VIEW_CONVERSION_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "casement/v1/definition.pb.h"
#include "server/engine/spec.h"
#include "server/runtime/runtime.h"

namespace casement::rpc {

// A view has one revision as yet.
inline constexpr char kRevision[] = "1";

// Without its create_time. `stream` is the spec of the request's parent.
absl::StatusOr<engine::ViewDefinition> ToViewDefinition(
    const v1::CreateViewRequest& request, const engine::StreamSpec& stream);

void SetView(absl::string_view stream, const runtime::ViewInfo& info,
             v1::View* view);

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_VIEW_CONVERSION_H_
