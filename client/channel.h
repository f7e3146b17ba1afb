// Channels to a Casement server. What this is for: the retry policy and the
// keepalive that every client should have, in one place. The one invariant:
// gRPC itself repeats only calls whose repetition is harmless (reads,
// AppendBatch, which the server tells apart by its sequence, and creates);
// long streams are resumed by Producer and Subscriber, who know from where.

#ifndef CASEMENT_CLIENT_CHANNEL_H_
#define CASEMENT_CLIENT_CHANNEL_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

namespace casement::client {

// Where a server listens unless it is told otherwise.
inline constexpr int kDefaultPort = 7077;
inline constexpr char kDefaultServer[] = "127.0.0.1:7077";

struct ChannelOptions {
  // Unset: no TLS.
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  // A ping after this much silence, and how long its answer may take. A server
  // refuses clients that ping more often than every 10 s.
  int keepalive_time_ms = 30'000;
  int keepalive_timeout_ms = 10'000;
};

// A channel to `server` ("HOST:PORT"). It connects when it is first used, and
// again whenever it has to; so this can't fail.
std::shared_ptr<grpc::Channel> MakeChannel(const std::string& server,
                                           const ChannelOptions& options = {});

// The service config that MakeChannel ships, as JSON: four attempts, 0.1 s to
// 2 s apart, for UNAVAILABLE only. For those who make their own channels.
std::string ServiceConfigJson();

}  // namespace casement::client

#endif  // CASEMENT_CLIENT_CHANNEL_H_
