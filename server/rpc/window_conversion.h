// A view's window: proto <-> spec. Kinds that this release lacks are checked in
// full all the same.
#ifndef CASEMENT_SERVER_RPC_WINDOW_CONVERSION_H_
#define CASEMENT_SERVER_RPC_WINDOW_CONVERSION_H_

#include "casement/v1/window.pb.h"
#include "server/engine/spec.h"
#include "server/rpc/field_errors.h"

namespace casement::rpc {

// For a kind that isn't built the spec stands in with a sound one, so that the
// rest of the view can be judged.
engine::WindowSpec ToWindowSpec(const v1::WindowSpec& window,
                                FieldErrors* errors);

void SetWindowSpec(const engine::WindowSpec& spec, v1::WindowSpec* window);

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_WINDOW_CONVERSION_H_
