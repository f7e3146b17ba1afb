// What a Stream is made of. Split from stream.h so that its users see a state
// machine and not its parts.
#ifndef CASEMENT_SERVER_ENGINE_STREAM_IMPL_H_
#define CASEMENT_SERVER_ENGINE_STREAM_IMPL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "server/engine/producer_table.h"
#include "server/engine/stream.h"
#include "server/engine/view.h"

namespace casement::engine {

struct Stream::Impl {
  explicit Impl(const StreamSpec& spec) : producers(spec.watermark) {}

  ProducerTable producers;
  std::map<uint32_t, std::unique_ptr<View>> views;  // by number
  uint32_t next_view_number = 1;
  TimeUs max_accepted_time = kNoWatermark;
  // Of the record that is being folded; kept to be used again.
  std::vector<TimeUs> judged_by;
  std::vector<uint8_t> skip;
  std::vector<uint8_t> late_rows;

  // Events of a batch that only the stream can refuse, by row: too far ahead
  // of the clock, or with a key that is too large for a view.
  struct RowReject {
    int32_t row;
    RejectReason reason;
    std::string field;
    std::string message;
  };
  std::vector<RowReject> FindRejects(const StreamSpec& spec,
                                     const BatchRecord& batch) const;
  View* FindView(absl::string_view id) const;

  // The steps of folding a batch.
  void FoldBatch(Stream* stream, const BatchRecord& batch, bool want_fates,
                 Changes* changes);
  // Fills judged_by, moves the watermark, and returns the one after the batch.
  TimeUs MoveWatermark(const StreamSpec& spec, const BatchRecord& batch,
                       const std::vector<RowReject>& rejects, TimeUs before,
                       ProducerState* producer);
  // Folds a record into every view.
  void FoldViews(const BatchRecord* batch, const FoldInput& input,
                 int64_t accepted, std::vector<RowFate>* fates,
                 Changes* changes);
  void TellFates(const EventBatch& events, std::vector<RowFate> fates,
                 Changes* changes) const;
};

}  // namespace casement::engine

#endif  // CASEMENT_SERVER_ENGINE_STREAM_IMPL_H_
