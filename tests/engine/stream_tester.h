// A small language for tests of the engine: a stream of one string field `key`
// and one int64 field `x` with one view, sent events by time, with results as
// short texts such as "FINAL a [0,10) n=3".
#ifndef CASEMENT_TESTS_ENGINE_STREAM_TESTER_H_
#define CASEMENT_TESTS_ENGINE_STREAM_TESTER_H_

#include <optional>
#include <string>
#include <vector>

#include "server/engine/stream.h"

namespace casement::engine {

struct TestEvent {
  TimeUs time;
  std::string key = "a";
  int64_t x = 1;
};

class StreamTester {
 public:
  StreamTester(StreamSpec stream, ViewSpec view);

  static StreamSpec StreamOf(int64_t delay = 0);
  static ViewSpec Tumbling(int64_t size, int64_t offset = 0);
  static ViewSpec Sliding(int64_t size, int64_t period, int64_t offset = 0);
  static ViewSpec Session(int64_t gap, GapRule rule = GapRule::kInclusive);

  // A batch of producer "p" (or another), whose results these are.
  std::vector<std::string> Send(const std::vector<TestEvent>& events,
                                const std::string& producer = "p");
  std::vector<std::string> Assert(TimeUs watermark,
                                  const std::string& producer = "p");
  std::vector<std::string> Say(SourceState state, const std::string& producer);
  std::vector<std::string> End();
  void SetClock(std::optional<TimeUs> now) { clock_ = now; }

  // The next batch of a producer, to be changed and folded by hand.
  BatchRecord NextBatch(const std::vector<TestEvent>& events,
                        const std::string& producer = "p");
  std::vector<std::string> Fold(Record record);

  TimeUs watermark() const { return stream_->progress().watermark; }
  Stream& stream() { return *stream_; }
  const Changes& changes() const { return changes_; }
  ViewAccounts accounts() const { return stream_->FindView(1)->accounts; }
  std::vector<std::string> Open() const;

 private:
  std::unique_ptr<Stream> stream_;
  Changes changes_;
  std::optional<TimeUs> clock_;
};

}  // namespace casement::engine

#endif  // CASEMENT_TESTS_ENGINE_STREAM_TESTER_H_
