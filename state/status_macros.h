// Early return on a status that is not OK.
#ifndef CASEMENT_STATE_STATUS_MACROS_H_
#define CASEMENT_STATE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#ifndef RETURN_IF_ERROR
#define RETURN_IF_ERROR(expression)                  \
  do {                                               \
    absl::Status status_macro_result = (expression); \
    if (!status_macro_result.ok()) {                 \
      return status_macro_result;                    \
    }                                                \
  } while (false)
#endif

#ifndef ASSIGN_OR_RETURN
#define CASEMENT_MACRO_JOIN_(a, b) a##b
#define CASEMENT_MACRO_JOIN(a, b) CASEMENT_MACRO_JOIN_(a, b)
#define CASEMENT_ASSIGN_OR_RETURN(result, target, expression) \
  auto result = (expression);                                 \
  if (!result.ok()) {                                         \
    return std::move(result).status();                        \
  }                                                           \
  target = *std::move(result)
#define ASSIGN_OR_RETURN(target, expression)                                   \
  CASEMENT_ASSIGN_OR_RETURN(CASEMENT_MACRO_JOIN(status_or_, __LINE__), target, \
                            expression)
#endif

#endif  // CASEMENT_STATE_STATUS_MACROS_H_
