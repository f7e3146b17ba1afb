// Carries out the steps of one case on a running server through the public API
// and collects what it sent in the case's own words. One adapter is one stream
// with one view, in one of the two wire forms.

#ifndef CASEMENT_TESTS_CONFORMANCE_ADAPTER_H_
#define CASEMENT_TESTS_CONFORMANCE_ADAPTER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "casement/v1/admin.grpc.pb.h"
#include "casement/v1/definition.grpc.pb.h"
#include "casement/v1/result.grpc.pb.h"
#include "casement/v1/test.grpc.pb.h"
#include "tests/conformance/case.h"
#include "tests/conformance/definition.h"
#include "tests/conformance/follower.h"
#include "tests/conformance/ledger.h"
#include "tests/conformance/sender.h"
#include "tests/support/server_process.h"

namespace casement::conformance {

class Adapter {
 public:
  // `server` runs, and is stopped and started again by the steps that say so.
  // Both it and `pipeline` must outlive the adapter.
  Adapter(support::ServerProcess& server, const Pipeline& pipeline, Form form,
          const std::string& stream_id);

  // Makes the stream and the view and follows the view.
  absl::Status Begin();
  // An error if the step can't be carried out. What it brought out is for the
  // caller to compare.
  absl::StatusOr<StepOutcome> Carry(const Step& step);
  absl::StatusOr<EndOutcome> End();
  // Deletes the stream with its view.
  absl::Status Remove();

  // The promises that were broken since the last call, whatever the case says.
  std::vector<std::string> TakeFaults() { return std::exchange(faults_, {}); }
  int batches() const { return sender_.batches(); }
  int batches_as_rows() const { return sender_.batches_as_rows(); }

 private:
  void Connect();
  void Disconnect();
  absl::Status CarryOut(const Step& step, StepOutcome* outcome);
  absl::Status SetClock(std::optional<Micros> time);
  absl::Status Restart(bool kill);
  absl::Status Terminate();
  absl::Status EndStream();
  // Of all records that this adapter brought about.
  int64_t version() const;

  absl::Status ReadResults(StepOutcome* outcome);
  absl::StatusOr<Watermark> ReadWatermark();
  absl::StatusOr<std::vector<SentRow>> List(v1::Finality finality);
  absl::StatusOr<v1::Stats> ReadStats(const std::string& name);
  absl::Status ReadAccounts(EndOutcome* outcome);

  support::ServerProcess& server_;
  const Pipeline& pipeline_;
  const std::string stream_id_;
  const std::string stream_;
  const std::string view_;
  const ApiNames names_;
  std::vector<std::string> faults_;

  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::DefinitionService::Stub> definitions_;
  std::unique_ptr<v1::ResultService::Stub> results_;
  std::unique_ptr<v1::AdminService::Stub> admin_;
  std::unique_ptr<v1::TestService::Stub> test_;

  std::optional<Micros> clock_;
  Sender sender_;
  Follower follower_;
  Ledger ledger_;
  int64_t end_version_ = 0;
};

}  // namespace casement::conformance

#endif  // CASEMENT_TESTS_CONFORMANCE_ADAPTER_H_
