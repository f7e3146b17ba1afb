// Results on their way out.
#ifndef CASEMENT_SERVER_RPC_RESULT_CONVERSION_H_
#define CASEMENT_SERVER_RPC_RESULT_CONVERSION_H_

#include <string>

#include "absl/status/status.h"
#include "casement/v1/result.pb.h"
#include "server/engine/result.h"
#include "server/runtime/runtime.h"

namespace casement::rpc {

// `view` is the view's full name. DATA_LOSS if the stored key is damaged.
absl::Status SetWindowResult(const std::string& view,
                             const engine::Result& result,
                             v1::WindowResult* proto);

void SetWindow(const engine::Window& window, v1::Window* proto);

// A filter by finality; INVALID_ARGUMENT names the field for a value that is
// unspecified or not known. None asked for: all.
absl::StatusOr<runtime::FinalityFilter> ToFinalityFilter(
    const google::protobuf::RepeatedField<int>& finalities);

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_RESULT_CONVERSION_H_
