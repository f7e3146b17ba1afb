// A real casementd in a process of its own, on a free port of the loopback, for
// tests that stop, kill and start it again. The data directory belongs to the
// caller and outlives every start; the port stays the same over them. The one
// invariant: when the object is gone, so is the process.
//
// Start from the main thread: the kernel ends the server when the thread that
// started it ends, so that a test which is killed leaves no server behind.

#ifndef CASEMENT_TESTS_SUPPORT_SERVER_PROCESS_H_
#define CASEMENT_TESTS_SUPPORT_SERVER_PROCESS_H_

#include <grpcpp/channel.h>
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace casement::support {

// The casementd to test: `flag` if it isn't empty, else $CASEMENTD, else the
// one beside the running binary, else ../bin/casementd from there.
absl::StatusOr<std::string> FindServerBinary(absl::string_view flag);

// A channel that tries again quickly when its server comes back, and shares
// nothing with other channels: not even the memory of failed attempts.
std::shared_ptr<grpc::Channel> NewTestChannel(const std::string& address);

class ServerProcess {
 public:
  struct Options {
    std::string binary;
    std::string data_dir;
    bool test_clock = false;
    std::vector<std::string> more_flags;
    // Where the server's output goes, appended over all starts.
    std::string log_file;
    absl::Duration start_deadline = absl::Seconds(60);
    absl::Duration stop_deadline = absl::Seconds(60);
  };

  explicit ServerProcess(Options options);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // Spawn and WaitUntilServing.
  absl::Status Start();
  // Starts the process and returns at once.
  absl::Status Spawn();
  // Returns when the server says that it is serving; an error, with the end of
  // its output, if it exits before or isn't there in time.
  absl::Status WaitUntilServing();

  // SIGTERM; returns the exit code, or an error if a signal ended it or it was
  // not gone in time (it is killed then).
  absl::StatusOr<int> Terminate();
  // SIGKILL, and waits until the process is gone.
  absl::Status Kill();

  bool running() const { return pid_ > 0; }
  // "127.0.0.1:PORT"; known after the first Spawn.
  const std::string& address() const { return address_; }
  // To the server as it runs now.
  std::shared_ptr<grpc::Channel> NewChannel() const;
  // The last lines of the server's output.
  std::string LogTail() const;

 private:
  // True if the process has ended; its wait status is then in `*status`.
  bool Reap(int* status, bool block);

  Options options_;
  std::string address_;
  pid_t pid_ = -1;
};

}  // namespace casement::support

#endif  // CASEMENT_TESTS_SUPPORT_SERVER_PROCESS_H_
