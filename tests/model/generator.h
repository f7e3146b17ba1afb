// Random scripts, each from one seed. They aim at what is easy to get wrong:
// times on the edges of windows and gaps and one microsecond beside them, all
// eras, disorder, statements about time in every order, odd values.
#ifndef CASEMENT_TESTS_MODEL_GENERATOR_H_
#define CASEMENT_TESTS_MODEL_GENERATOR_H_

#include <cstdint>

#include "tests/model/script.h"

namespace casement::model {

struct Shape {
  // How events are cut into batches does not matter for what becomes final:
  // AFTER_EACH_EVENT, no clock, no twists, all views there from the start.
  bool cuttable = false;
  int max_batches = 30;
};

Script Generate(uint64_t seed, const Shape& shape = {});

}  // namespace casement::model

#endif  // CASEMENT_TESTS_MODEL_GENERATOR_H_
