// Turns the steps of a script into records, with the epochs, sequence numbers
// and view numbers that they need.
#ifndef CASEMENT_TESTS_MODEL_DRIVER_H_
#define CASEMENT_TESTS_MODEL_DRIVER_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/engine/record.h"
#include "server/engine/stream.h"
#include "tests/model/script.h"

namespace casement::model {

class Driver {
 public:
  explicit Driver(const engine::StreamSpec& spec) : spec_(spec) {}

  // What to offer to the stream for a step, in order. A batch without its
  // producer opened, or a view to delete that isn't there, gives nothing.
  std::vector<engine::Record> Records(const Step& step) const;

  // To be told each record that was folded.
  void Folded(const engine::Record& record,
              std::optional<uint32_t> created_view);

 private:
  struct Sender {
    int64_t epoch = 0;
    int64_t last_sequence = 0;
    std::vector<engine::BatchRecord> sent;
  };

  std::vector<engine::Record> Batches(const BatchStep& step) const;

  const engine::StreamSpec& spec_;
  std::map<std::string, Sender> senders_;
  std::map<std::string, uint32_t> views_;
};

// Folds a script into a stream, leaving out what it doesn't admit, and hands
// on each record as it was folded with what came of it.
void FoldScript(const Script& script, bool want_fates, engine::Stream* stream,
                const std::function<void(const engine::Record&,
                                         const engine::Changes&)>& folded);

// The records that FoldScript folds.
std::vector<engine::Record> RecordsOf(const Script& script);

// Whether the stream takes the record as the next one to fold.
bool Admits(const engine::Stream& stream, const engine::Record& record);

}  // namespace casement::model

#endif  // CASEMENT_TESTS_MODEL_DRIVER_H_
