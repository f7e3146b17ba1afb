#include "tests/support/server_process.h"

#include <fcntl.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "casement/v1/admin.grpc.pb.h"
#include "tests/support/free_port.h"

namespace casement::support {
namespace {

std::string OwnDirectory() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  if (length <= 0) return ".";
  std::string own(path, length);
  return own.substr(0, own.rfind('/'));
}

bool IsExecutable(const std::string& path) {
  return access(path.c_str(), X_OK) == 0;
}

// The child's side of a fork: only calls that are safe there.
[[noreturn]] void Exec(char* const* argv, const char* log_file, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  const int log = open(log_file, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (log >= 0) {
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
  }
  execv(argv[0], argv);
  _exit(127);
}

std::string DescribeWaitStatus(int status) {
  if (WIFEXITED(status)) {
    return absl::StrCat("exited with code ", WEXITSTATUS(status));
  }
  return absl::StrCat("was ended by signal ", WTERMSIG(status));
}

}  // namespace

absl::StatusOr<std::string> FindServerBinary(absl::string_view flag) {
  if (!flag.empty()) {
    std::string path(flag);
    if (IsExecutable(path)) return path;
    return absl::NotFoundError(absl::StrCat("no program at ", path));
  }
  const char* from_environment = getenv("CASEMENTD");
  if (from_environment != nullptr && *from_environment != '\0') {
    return FindServerBinary(absl::string_view(from_environment));
  }
  const std::string own = OwnDirectory();
  for (const std::string& path :
       {own + "/casementd", own + "/../bin/casementd"}) {
    if (IsExecutable(path)) return path;
  }
  return absl::NotFoundError(absl::StrCat("no casementd in ", own,
                                          ": give its path with --casementd"));
}

std::shared_ptr<grpc::Channel> NewTestChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 20);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 20);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(),
                                   arguments);
}

ServerProcess::ServerProcess(Options options) : options_(std::move(options)) {
  if (options_.log_file.empty()) options_.log_file = "/dev/null";
}

ServerProcess::~ServerProcess() {
  if (running()) Kill().IgnoreError();  // nothing is left to be told
}

absl::Status ServerProcess::Start() {
  if (absl::Status status = Spawn(); !status.ok()) return status;
  return WaitUntilServing();
}

absl::Status ServerProcess::Spawn() {
  if (running()) return absl::FailedPreconditionError("already running");
  if (address_.empty()) {
    absl::StatusOr<int> port = FindFreePort();
    if (!port.ok()) return port.status();
    address_ = absl::StrCat("127.0.0.1:", *port);
  }
  std::vector<std::string> words = {options_.binary, "--data_dir",
                                    options_.data_dir, "--listen", address_};
  if (options_.test_clock) words.push_back("--test_clock");
  for (const std::string& flag : options_.more_flags) words.push_back(flag);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) {
    return absl::InternalError(absl::StrCat("fork: ", std::strerror(errno)));
  }
  if (pid == 0) Exec(argv.data(), options_.log_file.c_str(), parent);
  pid_ = pid;
  return absl::OkStatus();
}

absl::Status ServerProcess::WaitUntilServing() {
  const absl::Time deadline = absl::Now() + options_.start_deadline;
  auto stub = v1::AdminService::NewStub(NewChannel());
  std::string last = "no answer";
  while (absl::Now() < deadline) {
    // A short deadline each time, so that a server that exits is noticed.
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::milliseconds(250));
    v1::GetServerInfoResponse info;
    const grpc::Status status = stub->GetServerInfo(&context, {}, &info);
    if (status.ok() && info.state() == v1::SERVER_STATE_SERVING) {
      return absl::OkStatus();
    }
    last = status.ok() ? v1::ServerState_Name(info.state())
                       : status.error_message();
    if (int wait_status = 0; Reap(&wait_status, /*block=*/false)) {
      return absl::UnavailableError(
          absl::StrCat("casementd ", DescribeWaitStatus(wait_status),
                       " instead of serving:\n", LogTail()));
    }
    if (status.ok() || status.error_code() != grpc::DEADLINE_EXCEEDED) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  return absl::DeadlineExceededError(
      absl::StrCat("casementd does not serve (", last, "):\n", LogTail()));
}

absl::StatusOr<int> ServerProcess::Terminate() {
  if (!running()) return absl::FailedPreconditionError("not running");
  kill(pid_, SIGTERM);
  const absl::Time deadline = absl::Now() + options_.stop_deadline;
  int status = 0;
  while (!Reap(&status, /*block=*/false)) {
    if (absl::Now() > deadline) {
      Kill().IgnoreError();  // the deadline is the error to tell
      return absl::DeadlineExceededError(absl::StrCat(
          "casementd did not stop on SIGTERM within ",
          absl::FormatDuration(options_.stop_deadline), ":\n", LogTail()));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (!WIFEXITED(status)) {
    return absl::InternalError(absl::StrCat(
        "casementd ", DescribeWaitStatus(status), ":\n", LogTail()));
  }
  return WEXITSTATUS(status);
}

absl::Status ServerProcess::Kill() {
  if (!running()) return absl::FailedPreconditionError("not running");
  kill(pid_, SIGKILL);
  int status = 0;
  Reap(&status, /*block=*/true);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat("before it was killed, casementd ",
                                          DescribeWaitStatus(status), ":\n",
                                          LogTail()));
}

std::shared_ptr<grpc::Channel> ServerProcess::NewChannel() const {
  return NewTestChannel(address_);
}

std::string ServerProcess::LogTail() const {
  std::ifstream file(options_.log_file);
  std::string text((std::istreambuf_iterator<char>(file)),
                   std::istreambuf_iterator<char>());
  constexpr size_t kMost = 4000;
  return text.size() <= kMost ? text : text.substr(text.size() - kMost);
}

bool ServerProcess::Reap(int* status, bool block) {
  pid_t got;
  do {
    got = waitpid(pid_, status, block ? 0 : WNOHANG);
  } while (got < 0 && errno == EINTR);
  if (got == 0) return false;
  pid_ = -1;
  return true;
}

}  // namespace casement::support
