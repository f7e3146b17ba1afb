// A TCP port of the loopback that nobody listens on.

#ifndef CASEMENT_TESTS_SUPPORT_FREE_PORT_H_
#define CASEMENT_TESTS_SUPPORT_FREE_PORT_H_

#include "absl/status/statusor.h"

namespace casement::support {

// Below the ports that the kernel gives to outgoing connections: a client that
// knocks while its server is down would sooner or later be given the server's
// own port, and so connect to itself.
absl::StatusOr<int> FindFreePort();

}  // namespace casement::support

#endif  // CASEMENT_TESTS_SUPPORT_FREE_PORT_H_
