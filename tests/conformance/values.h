// Values between the three forms that they have: JSON in a case, messages of
// the API, and AggValue for comparing. An int64 beyond 2^53 is a string of
// digits in JSON; NaN, the infinities and -0.0 are strings in a double.

#ifndef CASEMENT_TESTS_CONFORMANCE_VALUES_H_
#define CASEMENT_TESTS_CONFORMANCE_VALUES_H_

#include <string>

#include "absl/status/statusor.h"
#include "casement/v1/value.pb.h"
#include "casement/v1/window.pb.h"
#include "tests/conformance/json_reader.h"
#include "tests/conformance/outcome.h"

namespace casement::conformance {

// An event's value as the API takes it. What is no value of the field's type is
// sent as what it is, so that the service can refuse it.
struct FieldValue {
  v1::Value value;
  // True for values of the field's type and for null.
  bool fits = true;
};

// `type` is a case's name of a type; with any other, nothing but null fits.
FieldValue ToFieldValue(const Json& json, const std::string& type);

// An aggregate's value as a case expects it.
absl::StatusOr<AggValue> ParseExpectedValue(const Json& json,
                                            const std::string& type);

// As the API sends it for an aggregate of function `fn`. An error for kinds
// that none of the functions has.
absl::StatusOr<AggValue> FromAggregateValue(const v1::AggregateValue& value,
                                            const std::string& fn);

}  // namespace casement::conformance

#endif  // CASEMENT_TESTS_CONFORMANCE_VALUES_H_
