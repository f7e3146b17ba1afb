// What is wrong with a definition, gathered over all its fields. A field that
// is wrong outweighs one that is right but not built in this release, so that
// nobody learns of a mistake only after the feature arrives.
#ifndef CASEMENT_SERVER_RPC_FIELD_ERRORS_H_
#define CASEMENT_SERVER_RPC_FIELD_ERRORS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/duration.pb.h"
#include "server/engine/error.h"

namespace casement::rpc {

class FieldErrors {
 public:
  // The first complaint about a field stands.
  void Invalid(absl::string_view field, absl::string_view description);
  void NotBuilt(absl::string_view field);

  // Takes over the violations of a check by the engine, whose paths are
  // relative to `prefix` ("stream."). Any other error becomes the outcome.
  void Merge(absl::string_view prefix, const absl::Status& status);

  // The duration in microseconds; a complaint, and 0, if it is none.
  int64_t Duration(absl::string_view field,
                   const google::protobuf::Duration& duration);
  // The same, with a complaint about what is below `least_us`.
  int64_t DurationAtLeast(absl::string_view field,
                          const google::protobuf::Duration& duration,
                          int64_t least_us);

  // OK, INVALID_ARGUMENT or UNIMPLEMENTED.
  absl::Status status() const;

 private:
  std::vector<engine::FieldViolation> violations_;
  std::optional<std::string> not_built_;
  absl::Status other_;
};

// "path[index]"
std::string At(absl::string_view path, int index);

}  // namespace casement::rpc

#endif  // CASEMENT_SERVER_RPC_FIELD_ERRORS_H_
