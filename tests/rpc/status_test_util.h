// Looking into statuses, from the engine's side and from the client's.
#ifndef CASEMENT_TESTS_RPC_STATUS_TEST_UTIL_H_
#define CASEMENT_TESTS_RPC_STATUS_TEST_UTIL_H_

#include <grpcpp/support/status.h>

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/engine/error.h"
#include "tests/support/rpc.h"

namespace casement::rpc {

// The reason that an engine's status carries; empty if none.
inline std::string ReasonOf(const absl::Status& status) {
  const auto detail = engine::GetErrorDetail(status);
  return detail.has_value() ? detail->reason : "";
}

// The fields that an engine's status complains about.
inline std::vector<std::string> FieldsOf(const absl::Status& status) {
  std::vector<std::string> fields;
  const auto detail = engine::GetErrorDetail(status);
  if (!detail.has_value()) return fields;
  for (const auto& violation : detail->violations) {
    fields.push_back(violation.field);
  }
  return fields;
}

inline std::string MetadataOf(const absl::Status& status,
                              const std::string& key) {
  const auto detail = engine::GetErrorDetail(status);
  if (!detail.has_value()) return "";
  for (const auto& [name, value] : detail->metadata) {
    if (name == key) return value;
  }
  return "";
}

// What the client sees.
inline std::string ReasonOf(const grpc::Status& status) {
  return support::ReasonOf(support::DetailsOf(status));
}

inline std::map<std::string, std::string> MetadataOf(
    const grpc::Status& status) {
  const google::rpc::Status details = support::DetailsOf(status);
  for (const auto& any : details.details()) {
    google::rpc::ErrorInfo info;
    if (any.UnpackTo(&info)) {
      return {info.metadata().begin(), info.metadata().end()};
    }
  }
  return {};
}

inline std::vector<std::string> FieldsOf(const grpc::Status& status) {
  std::vector<std::string> fields;
  const auto violations = support::ViolationsOf(support::DetailsOf(status));
  for (const auto& violation : violations) {
    fields.push_back(violation.field());
  }
  return fields;
}

}  // namespace casement::rpc

#endif  // CASEMENT_TESTS_RPC_STATUS_TEST_UTIL_H_
