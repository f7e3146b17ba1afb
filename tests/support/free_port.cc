#include "tests/support/free_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>

#include "absl/status/status.h"

namespace casement::support {
namespace {

constexpr int kLeastPort = 12000;
constexpr int kGreatestPort = 32000;

bool IsFree(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0) return false;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool free = bind(fd, reinterpret_cast<const sockaddr*>(&address),
                         sizeof(address)) == 0;
  close(fd);
  return free;
}

}  // namespace

absl::StatusOr<int> FindFreePort() {
  std::random_device random;
  std::uniform_int_distribution<int> ports(kLeastPort, kGreatestPort);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const int port = ports(random);
    if (IsFree(port)) return port;
  }
  return absl::UnavailableError("no free port on 127.0.0.1");
}

}  // namespace casement::support
