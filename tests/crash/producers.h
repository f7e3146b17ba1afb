// The producers of the stress run. Both number their batches, keep what is not
// acknowledged, and send it again when the server is back: one with one call a
// batch, in rows; the other with many batches in flight, in columns.

#ifndef CASEMENT_TESTS_CRASH_PRODUCERS_H_
#define CASEMENT_TESTS_CRASH_PRODUCERS_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "casement/v1/ingest.grpc.pb.h"
#include "tests/crash/faults.h"
#include "tests/crash/pace.h"
#include "tests/crash/watermark_watch.h"

namespace casement::stress {

// What the producers share; it outlives them.
struct Ingest {
  uint64_t seed;
  std::shared_ptr<grpc::Channel> channel;
  Pace& pace;
  WatermarkWatch& watch;
  Faults& faults;
  // Batches that were sent again, and those that the server knew already.
  std::atomic<int64_t> resent = 0;
  std::atomic<int64_t> duplicates = 0;
};

class ProducerBase {
 public:
  ProducerBase(Ingest& ingest, int number);
  virtual ~ProducerBase() = default;

  // In a thread of its own, until the pace ends it or something is wrong.
  virtual void Run() = 0;

 protected:
  // False if there is nothing to go on with.
  bool Open();
  // True: the server is gone and will be back. False: a fault, written down.
  bool WillBeBack(const std::string& what, const grpc::Status& status);
  void Fault(const std::string& what);
  void CheckAck(const v1::BatchAck& ack);

  Ingest& ingest_;
  const int number_;
  const std::string name_;
  std::unique_ptr<v1::IngestService::Stub> stub_;
  std::mt19937_64 random_;
  int64_t epoch_ = 0;
  int64_t acked_ = 0;
  // The highest that was ever sent.
  int64_t sent_ = 0;
};

class RowProducer : public ProducerBase {
 public:
  using ProducerBase::ProducerBase;
  void Run() override;

 private:
  // False at a fault.
  bool Send(int64_t sequence);
};

class ColumnProducer : public ProducerBase {
 public:
  using ProducerBase::ProducerBase;
  void Run() override;

 private:
  using Call = grpc::ClientReaderWriter<v1::AppendStreamRequest,
                                        v1::AppendStreamResponse>;
  enum class Ended { kDone, kBroken, kFault };

  // One AppendStream, from open to close or until it breaks.
  Ended RunCall();
  bool Greet(Call& call);
  bool WriteBatch(Call& call, int64_t sequence);
  // False if the call is broken or a fault was found.
  bool ReadAck(Call& call);
  Ended Close(Call& call);
  Ended Finish(Call& call);

  bool faulty_ = false;
  bool closed_ = false;
  int64_t next_ = 1;
  int64_t known_before_ = 0;
};

}  // namespace casement::stress

#endif  // CASEMENT_TESTS_CRASH_PRODUCERS_H_
