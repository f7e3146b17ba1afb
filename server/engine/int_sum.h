// Exact sums of int64 values in 128 bits, and their quotients rounded once.
#ifndef CASEMENT_SERVER_ENGINE_INT_SUM_H_
#define CASEMENT_SERVER_ENGINE_INT_SUM_H_

#include <cstdint>
#include <string>

namespace casement::engine {

using Int128 = __int128;

bool FitsInt64(Int128 value);
std::string ToDecimal(Int128 value);

// total / count to the nearest double, ties to even; count > 0.
double Quotient(Int128 total, int64_t count);

}  // namespace casement::engine

#endif  // CASEMENT_SERVER_ENGINE_INT_SUM_H_
