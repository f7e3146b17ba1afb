// A step's events as a batch of the API, in either wire form. Columns can't
// say everything that rows can: a value of another type than its field's, for
// one; such a batch goes as rows.

#ifndef CASEMENT_TESTS_CONFORMANCE_BATCH_H_
#define CASEMENT_TESTS_CONFORMANCE_BATCH_H_

#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "casement/v1/ingest.pb.h"
#include "tests/conformance/case.h"
#include "tests/conformance/definition.h"

namespace casement::conformance {

v1::RowBatch MakeRows(absl::Span<const Event* const> events,
                      const Pipeline& pipeline, const ApiNames& names);

// No value if columns can't express the events.
std::optional<v1::ColumnBatch> MakeColumns(
    absl::Span<const Event* const> events, const Pipeline& pipeline,
    const ApiNames& names);

}  // namespace casement::conformance

#endif  // CASEMENT_TESTS_CONFORMANCE_BATCH_H_
