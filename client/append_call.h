// One AppendStream call. What this is for: the order of its messages (open,
// opened, batches, close) in one place. The one invariant: a call that ended
// with OK was closed by us with its last sequence; any other end, however
// quiet, is an error, since a half-close proves nothing.

#ifndef CASEMENT_CLIENT_APPEND_CALL_H_
#define CASEMENT_CLIENT_APPEND_CALL_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "casement/v1/ingest.grpc.pb.h"

namespace casement::client {

// One thread may write while another reads; Cancel is for any thread.
class AppendCall {
 public:
  explicit AppendCall(v1::IngestService::StubInterface& stub);

  // Opens the call and waits for the answer: the last sequence that the server
  // has. On an error the call is over; Finish is not to be called then.
  absl::StatusOr<int64_t> Open(const std::string& producer, int64_t epoch,
                               v1::Durability durability, v1::Report report);

  // False: the call is broken; Finish says why, once Read has failed too.
  bool Write(const v1::AppendStreamRequest& request);
  bool Read(v1::AppendStreamResponse* response);
  // Nothing is written after this.
  void Close(int64_t last_sequence);
  void Cancel();

  // After Read has failed, or after Cancel.
  absl::Status Finish();

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriterInterface<v1::AppendStreamRequest,
                                                    v1::AppendStreamResponse>>
      stream_;
  bool closed_ = false;
};

}  // namespace casement::client

#endif  // CASEMENT_CLIENT_APPEND_CALL_H_
