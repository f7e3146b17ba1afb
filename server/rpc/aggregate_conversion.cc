#include "server/rpc/aggregate_conversion.h"

#include <cmath>
#include <string>
#include <type_traits>
#include <variant>

#include "absl/strings/str_cat.h"

namespace casement::rpc {
namespace {

using v1::AggregateSpec;

// What a function takes beside its field.
struct Parameters {
  bool quantiles = false;
  bool k = false;
  bool bounds = false;
  bool relative_error = false;
};

Parameters ParametersOf(AggregateSpec::Function function) {
  Parameters parameters;
  switch (function) {
    case AggregateSpec::FUNCTION_QUANTILES:
      parameters.quantiles = true;
      parameters.relative_error = true;
      break;
    case AggregateSpec::FUNCTION_DISTINCT_COUNT:
      parameters.relative_error = true;
      break;
    case AggregateSpec::FUNCTION_TOP_K:
      parameters.k = true;
      break;
    case AggregateSpec::FUNCTION_HISTOGRAM:
      parameters.bounds = true;
      break;
    default:
      break;
  }
  return parameters;
}

bool IsNumeric(engine::FieldType type) {
  return type == engine::FieldType::kInt64 ||
         type == engine::FieldType::kDouble;
}

bool NeedsNumber(AggregateSpec::Function function) {
  switch (function) {
    case AggregateSpec::FUNCTION_VARIANCE:
    case AggregateSpec::FUNCTION_STDDEV:
    case AggregateSpec::FUNCTION_VAR_SAMP:
    case AggregateSpec::FUNCTION_STDDEV_SAMP:
    case AggregateSpec::FUNCTION_QUANTILES:
    case AggregateSpec::FUNCTION_HISTOGRAM:
      return true;
    default:
      return false;
  }
}

void CheckQuantiles(const std::string& path, const AggregateSpec& aggregate,
                    FieldErrors* errors) {
  const std::string field = absl::StrCat(path, ".quantiles");
  if (aggregate.quantiles().empty()) errors->Invalid(field, "is required");
  for (double quantile : aggregate.quantiles()) {
    if (!(quantile >= 0 && quantile <= 1)) {
      errors->Invalid(field, "must each be from 0 to 1");
    }
  }
}

void CheckBounds(const std::string& path, const AggregateSpec& aggregate,
                 FieldErrors* errors) {
  const std::string field = absl::StrCat(path, ".bounds");
  if (aggregate.bounds().empty()) errors->Invalid(field, "is required");
  for (int i = 0; i < aggregate.bounds_size(); ++i) {
    if (std::isnan(aggregate.bounds(i)) ||
        (i > 0 && !(aggregate.bounds(i) > aggregate.bounds(i - 1)))) {
      errors->Invalid(field, "must be ascending numbers");
    }
  }
}

void CheckParameters(const std::string& path, const AggregateSpec& aggregate,
                     FieldErrors* errors) {
  constexpr char kNotTaken[] = "is not a parameter of this function";
  const Parameters takes = ParametersOf(aggregate.function());
  if (takes.quantiles) {
    CheckQuantiles(path, aggregate, errors);
  } else if (!aggregate.quantiles().empty()) {
    errors->Invalid(absl::StrCat(path, ".quantiles"), kNotTaken);
  }
  if (takes.bounds) {
    CheckBounds(path, aggregate, errors);
  } else if (!aggregate.bounds().empty()) {
    errors->Invalid(absl::StrCat(path, ".bounds"), kNotTaken);
  }
  if (aggregate.k() != 0 && !takes.k) {
    errors->Invalid(absl::StrCat(path, ".k"), kNotTaken);
  } else if (aggregate.k() < 0) {
    errors->Invalid(absl::StrCat(path, ".k"), "must not be negative");
  }
  if (aggregate.relative_error() == 0) return;
  const std::string error_path = absl::StrCat(path, ".relative_error");
  if (!takes.relative_error) {
    errors->Invalid(error_path, kNotTaken);
  } else if (!(aggregate.relative_error() > 0 &&
               aggregate.relative_error() < 1)) {
    errors->Invalid(error_path, "must be between 0 and 1");
  } else {
    // DISTINCT_COUNT is exact as yet.
    errors->NotBuilt(error_path);
  }
}

// The field of a function that the engine doesn't know.
void CheckField(const std::string& path, const AggregateSpec& aggregate,
                const engine::StreamSpec& stream, FieldErrors* errors) {
  const std::string field = absl::StrCat(path, ".field");
  const int index = stream.FindField(aggregate.field());
  if (aggregate.field().empty()) {
    errors->Invalid(field, "is required");
  } else if (index < 0) {
    errors->Invalid(field, absl::StrCat("the stream has no field \"",
                                        aggregate.field(), "\""));
  } else if (NeedsNumber(aggregate.function()) &&
             !IsNumeric(stream.fields[index].type)) {
    errors->Invalid(field, "must be an int64 or a double for this function");
  }
}

bool IsBuilt(AggregateSpec::Function function) {
  switch (function) {
    case AggregateSpec::FUNCTION_COUNT:
    case AggregateSpec::FUNCTION_SUM:
    case AggregateSpec::FUNCTION_MIN:
    case AggregateSpec::FUNCTION_MAX:
    case AggregateSpec::FUNCTION_MEAN:
    case AggregateSpec::FUNCTION_DISTINCT_COUNT:
      return true;
    default:
      return false;
  }
}

template <typename Proto>
class ScalarSetter {
 public:
  explicit ScalarSetter(Proto* proto) : proto_(proto) {}
  void operator()(std::monostate) const {}
  void operator()(int64_t value) const { proto_->set_int64_value(value); }
  void operator()(double value) const { proto_->set_double_value(value); }
  void operator()(bool value) const { proto_->set_bool_value(value); }
  void operator()(const std::string& value) const {
    proto_->set_string_value(value);
  }
  void operator()(const engine::Bytes& value) const {
    proto_->set_bytes_value(value.value);
  }
  void operator()(const engine::Decimal& value) const {
    // A key part is a value of a field, which is never one.
    if constexpr (std::is_same_v<Proto, v1::AggregateValue>) {
      proto_->set_decimal_value(value.value);
    }
  }
  void operator()(const engine::MeanValue& value) const {
    if constexpr (std::is_same_v<Proto, v1::AggregateValue>) {
      v1::AggregateValue::Mean* mean = proto_->mutable_mean();
      mean->set_value(value.value);
      mean->set_count(value.count);
      std::visit(ScalarSetter(mean->mutable_sum()), value.sum);
    }
  }

 private:
  Proto* proto_;
};

}  // namespace

engine::AggregateSpec ToAggregateSpec(const std::string& path,
                                      const AggregateSpec& aggregate,
                                      const engine::StreamSpec& stream,
                                      FieldErrors* errors) {
  engine::AggregateSpec spec;
  spec.alias = aggregate.alias();
  const std::string function_path = absl::StrCat(path, ".function");
  if (aggregate.function() == AggregateSpec::FUNCTION_UNSPECIFIED) {
    errors->Invalid(function_path, "is required");
    return spec;
  }
  if (!AggregateSpec::Function_IsValid(aggregate.function())) {
    errors->Invalid(function_path, "is not a value that this server knows");
    return spec;
  }
  CheckParameters(path, aggregate, errors);
  if (!IsBuilt(aggregate.function())) {
    CheckField(path, aggregate, stream, errors);
    errors->NotBuilt(function_path);
    return spec;
  }
  // Wire numbers and the engine's agree; a test holds them together.
  spec.function = static_cast<engine::Function>(aggregate.function());
  spec.field = aggregate.field();
  return spec;
}

void SetAggregateSpec(const engine::AggregateSpec& spec,
                      AggregateSpec* aggregate) {
  aggregate->set_alias(spec.alias);
  aggregate->set_function(static_cast<AggregateSpec::Function>(spec.function));
  aggregate->set_field(spec.field);
}

void SetAggregateValue(const engine::AggregateValue& value,
                       v1::AggregateValue* proto) {
  std::visit(ScalarSetter(proto), value);
}

void SetValue(const engine::ScalarValue& value, v1::Value* proto) {
  std::visit(ScalarSetter(proto), value);
}

}  // namespace casement::rpc
