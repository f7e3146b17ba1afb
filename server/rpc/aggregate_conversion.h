// A view's aggregates: proto <-> specs, and their values on the way out.
#ifndef CASEMENT_SERVER_RPC_AGGREGATE_CONVERSION_H_
#define CASEMENT_SERVER_RPC_AGGREGATE_CONVERSION_H_

#include "casement/v1/value.pb.h"
#include "casement/v1/window.pb.h"
#include "server/engine/result.h"
#include "server/engine/spec.h"
#include "server/rpc/field_errors.h"

namespace casement::rpc {

// For a function that isn't built a COUNT under the same alias stands in, so
// that the rest of the view can be judged. `path` is the aggregate's.
engine::AggregateSpec ToAggregateSpec(const std::string& path,
                                      const v1::AggregateSpec& aggregate,
                                      const engine::StreamSpec& stream,
                                      FieldErrors* errors);

void SetAggregateSpec(const engine::AggregateSpec& spec,
                      v1::AggregateSpec* aggregate);

void SetAggregateValue(const engine::AggregateValue& value,
                       v1::AggregateValue* proto);
// A part of a key.
void SetValue(const engine::ScalarValue& value, v1::Value* proto);

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_AGGREGATE_CONVERSION_H_
