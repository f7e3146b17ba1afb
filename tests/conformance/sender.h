// The producers of one case: sends its batches and what it says about time, and
// numbers them. Which producer a step means follows from the pipeline: with
// declared sources each is a producer of its own, without them all senders are
// one input.

#ifndef CASEMENT_TESTS_CONFORMANCE_SENDER_H_
#define CASEMENT_TESTS_CONFORMANCE_SENDER_H_

#include <grpcpp/channel.h>
#include <grpcpp/support/status.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "casement/v1/ingest.grpc.pb.h"
#include "tests/conformance/case.h"
#include "tests/conformance/definition.h"

namespace casement::conformance {

enum class Form { kRows, kColumns };

class Sender {
 public:
  // `pipeline` and `names` must outlive the sender, as must `faults`, which
  // gets what is wrong with the answers.
  Sender(const Pipeline& pipeline, const ApiNames& names, Form form,
         const std::string& stream, std::vector<std::string>* faults);

  // Before anything else, and again when the server was started again.
  void Connect(const std::shared_ptr<grpc::Channel>& channel);
  void Disconnect() { stub_.reset(); }
  // The ids of the producers that stand for the pipeline's sources.
  std::vector<std::string> SourceIds();
  // Whether a guard is up that may refuse an assertion.
  void set_guarded(bool guarded) { guarded_ = guarded; }

  absl::Status Ingest(const Step& step, StepOutcome* outcome);
  absl::Status Advance(const Step& step);
  absl::Status MarkIdle(const Step& step);

  // The highest version of all answers.
  int64_t version() const { return version_; }
  // What the last answer said of the stream, since the last call.
  std::optional<v1::Progress> TakeProgress();
  // Batches with events, and those of them that columns couldn't express.
  int batches() const { return batches_; }
  int batches_as_rows() const { return batches_as_rows_; }

 private:
  struct Producer {
    std::string id;
    int64_t epoch = 0;
    int64_t next_sequence = 1;
    bool idle = false;
    bool opened() const { return epoch > 0; }
  };

  // Known, or new under the next id.
  Producer& Named(const std::string& label);
  std::string LabelOf(const Event& event, const Step& step) const;
  absl::Status Open(Producer& producer);
  v1::Batch MakeBatch(absl::Span<const Event* const> events);
  // `number` is what the case calls the batch, if it numbers it.
  absl::Status SendEvents(Producer& producer,
                          absl::Span<const Event* const> events,
                          const std::optional<std::string>& number,
                          StepOutcome* outcome);
  absl::Status Assert(Producer& producer, Micros time);
  absl::Status SayIdle(Producer& producer);
  // INVALID_ARGUMENT is no error here but told in `*refused`: the batch was
  // not taken.
  absl::Status Append(const Producer& producer, const v1::Batch& batch,
                      v1::BatchAck* ack, grpc::Status* refused);

  const Pipeline& pipeline_;
  const ApiNames& names_;
  const Form form_;
  const std::string stream_;
  std::vector<std::string>* const faults_;
  std::unique_ptr<v1::IngestService::Stub> stub_;
  bool guarded_ = false;

  std::map<std::string, Producer> producers_;
  // The sequence that each number of the case became.
  std::map<std::string, int64_t> sequences_;
  int64_t version_ = 0;
  std::optional<v1::Progress> progress_;
  int batches_ = 0;
  int batches_as_rows_ = 0;
};

}  // namespace casement::conformance

#endif  // CASEMENT_TESTS_CONFORMANCE_SENDER_H_
