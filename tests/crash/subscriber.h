// A subscriber of the stress run: follows one view by cursor over all kills,
// and gathers the finals. It watches that a window is final once, that nothing
// follows, that versions of a window rise, that what was sent is never ahead of
// nor behind what progress says, and that rows which are sent again, because it
// resumed from an older cursor, are the same to the last byte.

#ifndef CASEMENT_TESTS_CRASH_SUBSCRIBER_H_
#define CASEMENT_TESTS_CRASH_SUBSCRIBER_H_

#include <grpcpp/channel.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "casement/v1/result.grpc.pb.h"
#include "tests/crash/faults.h"
#include "tests/crash/finals.h"
#include "tests/crash/views.h"

namespace casement::stress {

// How a subscriber goes about it.
struct Habit {
  std::string name;
  // Asks for final results only.
  bool finals_only = false;
  // Keeps the cursor of every n-th response.
  int keep_every = 1;
  int max_response_bytes = 0;
};

class Subscriber {
 public:
  // `end_version` turns from 0 to the version that everything must be read up
  // to. Both it and `faults` outlive the subscriber.
  Subscriber(Habit habit, ViewKind view, std::shared_ptr<grpc::Channel> channel,
             const std::atomic<int64_t>& end_version, Faults& faults);

  // In a thread of its own, until all is read or something is wrong.
  void Run();

  const std::string& name() const { return name_; }
  ViewKind view() const { return view_; }
  const Finals& finals() const { return finals_; }
  int64_t repeated_rows() const { return repeated_rows_; }
  int64_t provisional_rows() const { return provisional_rows_; }
  int resumed() const { return calls_ - 1; }

 private:
  enum class Ended { kDone, kBroken, kFault };

  Ended RunCall();
  void Read(const v1::SubscribeResponse& response);
  void ReadRow(const v1::WindowResult& row);
  void ReadProgress(const v1::Progress& served, const v1::Progress& head);
  bool IsRepeat(const std::string& identity, const v1::WindowResult& row);
  void KeepCursor(const std::string& cursor);
  bool Done() const;
  void Fault(const std::string& what);

  // The last row of a window.
  struct Last {
    int64_t version = 0;
    v1::Finality finality = v1::FINALITY_UNSPECIFIED;
  };

  const Habit habit_;
  const ViewKind view_;
  const std::string name_;
  const std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::ResultService::Stub> stub_;
  const std::atomic<int64_t>& end_version_;
  Faults& faults_;

  int calls_ = 0;
  std::string cursor_;
  int responses_since_kept_ = 0;
  // Rows by window, version and finality: those since the kept cursor, and
  // those that an earlier call has read beyond it.
  std::map<std::string, std::string> since_kept_;
  std::map<std::string, std::string> expected_again_;
  int64_t served_version_ = 0;
  // As progress has told; later rows must be after it.
  int64_t told_final_us_ = std::numeric_limits<int64_t>::min();
  int64_t head_us_ = std::numeric_limits<int64_t>::min();

  std::map<std::string, Last> last_;
  Finals finals_;
  int64_t repeated_rows_ = 0;
  int64_t provisional_rows_ = 0;
};

}  // namespace casement::stress

#endif  // CASEMENT_TESTS_CRASH_SUBSCRIBER_H_
