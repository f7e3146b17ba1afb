// A stream as the semantics read, written plainly and slowly, and sharing no
// code with the engine but its vocabulary: what a record must bring out. It is
// the judge of the engine, so it takes no short cuts: see view_model.h.
#ifndef CASEMENT_TESTS_MODEL_MODEL_H_
#define CASEMENT_TESTS_MODEL_MODEL_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/engine/record.h"
#include "server/engine/stream.h"
#include "tests/model/producers.h"
#include "tests/model/view_model.h"

namespace casement::model {

// What must come of offering a batch: an error with one of `codes`, a
// remembered answer, or a fold.
struct ExpectedAdmission {
  std::set<absl::StatusCode> codes;
  // With REJECT_BATCH: the bad events, by index as sent.
  std::map<int32_t, engine::RejectReason> bad;
  std::optional<engine::BatchAck> repeat;
  // A repeat too old to be answered exactly; it must not be folded.
  bool forgotten = false;
};

// What a record must bring out.
struct Outcome {
  engine::Progress progress;
  std::map<uint32_t, ViewOutcome> views;  // by number
  std::optional<engine::BatchAck> ack;
  // Refused by the fold, by index as sent.
  std::map<int32_t, engine::RejectReason> rejects;
  std::vector<ModelEvent> accepted;  // in order
};

class Model {
 public:
  explicit Model(engine::StreamSpec spec);

  const engine::StreamSpec& spec() const { return spec_; }

  ExpectedAdmission Admit(const engine::BatchRecord& batch) const;

  // The same records that the engine folds. `created` is the number that the
  // engine has given to a view that the record makes.
  Outcome Fold(const engine::Record& record, std::optional<uint32_t> created);

  const engine::Progress& progress() const { return progress_; }
  const engine::StreamAccounts& accounts() const { return accounts_; }
  const ModelProducers& producers() const { return producers_; }
  const std::map<uint32_t, std::unique_ptr<ViewModel>>& views() const {
    return views_;
  }

 private:
  // Why the stream refuses an event that is well formed in itself, if it does.
  std::optional<engine::RejectReason> Refuses(const engine::BatchRecord& batch,
                                              int row) const;
  void FoldBatch(const engine::BatchRecord& batch, Outcome* outcome);
  void FoldEvents(const engine::BatchRecord& batch, ModelProducer* producer,
                  Outcome* outcome);
  void FoldStatements(const engine::BatchRecord& batch,
                      ModelProducer* producer);
  void MoveWatermark();
  void StepViews(Outcome* outcome);
  void CountLate(const std::string& producer, Outcome* outcome);

  engine::StreamSpec spec_;
  engine::Progress progress_;
  WatermarkHistory history_ = {engine::kNoWatermark};
  std::vector<ModelEvent> events_;  // all that were accepted, in order
  ModelProducers producers_;
  std::map<uint32_t, std::unique_ptr<ViewModel>> views_;
  engine::StreamAccounts accounts_;
};

// The values of a row of a batch, one a field.
std::vector<engine::ScalarValue> RowValues(const engine::EventBatch& events,
                                           int row,
                                           const engine::StreamSpec& spec);

}  // namespace casement::model

#endif  // CASEMENT_TESTS_MODEL_MODEL_H_
