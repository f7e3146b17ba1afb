// The journal thread: takes all records that wait, of all streams, and writes
// them in one go, synced if one of them asks for it. Then it calls their
// answers and hands what followed from them to the publisher. Records that
// nobody waits to be synced are synced soon after, and published only then.
#ifndef CASEMENT_SERVER_RUNTIME_COMMITTER_H_
#define CASEMENT_SERVER_RUNTIME_COMMITTER_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "server/runtime/executor.h"
#include "server/runtime/publisher.h"
#include "state/journal.h"

namespace casement::runtime {

// A record, or a barrier if it has none: then only its answer waits for what
// came before it.
struct Commit {
  struct Record {
    uint32_t stream = 0;
    engine::Version version = 0;
    std::string payload;
  };
  std::optional<Record> record;
  // When to answer: synced, or as soon as it is with the operating system.
  bool synced = true;
  Task answer;  // may be null
  std::optional<Publication> publication;
};

class Committer {
 public:
  struct Options {
    int64_t buffered_sync_us = 100'000;
    // Called from the journal thread after each write, with the bytes that the
    // journal has grown by.
    std::function<void(uint64_t)> grown;
    // At the first failed write, likewise.
    std::function<void(absl::Status)> failed;
  };
  Committer(state::Journal* journal, Publisher* publisher, Options options);
  ~Committer();

  // The number of the last record that was pushed, this one included.
  state::RecordNumber Push(Commit commit);
  state::RecordNumber last_pushed() const;

  // From now on nothing is written: what waits and what comes is answered with
  // the status. The first call counts.
  void Fail(absl::Status status);
  // Works off what waits, then ends.
  void Join();

 private:
  using Clock = std::chrono::steady_clock;

  void Run();
  // False at the end.
  bool TakeGroup(std::vector<Commit>* group);
  void Work(std::vector<Commit>* group);
  absl::Status Write(const std::vector<Commit>& group, bool sync);
  void Answer(Commit* commit, const absl::Status& status);
  void HandOver(Commit* commit, const absl::Status& status);
  absl::Status failure() const;

  state::Journal* const journal_;
  Publisher* const publisher_;
  const Options options_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Commit> waiting_;
  state::RecordNumber last_pushed_;
  bool closing_ = false;
  absl::Status failure_;

  // The journal thread's: written, answered perhaps, not yet synced.
  std::vector<Commit> unsynced_;
  size_t unsynced_bytes_ = 0;
  Clock::time_point sync_at_;

  std::thread thread_;
};

}  // namespace casement::runtime

#endif  // CASEMENT_SERVER_RUNTIME_COMMITTER_H_
