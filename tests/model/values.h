// Values as the model sees them: keys that compare by their parts, and
// aggregates worked out from all the values of a window at once.
#ifndef CASEMENT_TESTS_MODEL_VALUES_H_
#define CASEMENT_TESTS_MODEL_VALUES_H_

#include <string>
#include <vector>

#include "server/engine/result.h"
#include "server/engine/spec.h"

namespace casement::model {

using Key = std::vector<engine::ScalarValue>;

// -0.0 becomes 0.0, every NaN the same NaN.
engine::ScalarValue Normalized(engine::ScalarValue value);

// Nulls first, then by value; NaN is greater than every number. Both values
// are of one type, or null. Negative, zero or positive.
int CompareScalars(const engine::ScalarValue& a, const engine::ScalarValue& b);
int CompareKeys(const Key& a, const Key& b);

struct KeyLess {
  bool operator()(const Key& a, const Key& b) const {
    return CompareKeys(a, b) < 0;
  }
};

// What an aggregate must be. A sum or mean of doubles may be one unit in the
// last place off; when the values span more bits than a double-double holds,
// also by `slack`.
struct ExpectedValue {
  engine::AggregateValue value;
  bool one_ulp = false;
  bool any_zero = false;
  double slack = 0;
};

// `values`: the field's value of each event, in any order. For a COUNT of
// events one for each event, whatever it is.
ExpectedValue Aggregate(const engine::AggregateSpec& aggregate,
                        engine::FieldType type,
                        const std::vector<engine::ScalarValue>& values);

bool Matches(const ExpectedValue& expected, const engine::AggregateValue& got);

std::string ToText(const engine::ScalarValue& value);
std::string ToText(const engine::AggregateValue& value);
std::string ToText(const Key& key);

}  // namespace casement::model

#endif  // CASEMENT_TESTS_MODEL_VALUES_H_
