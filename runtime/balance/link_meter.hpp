// LinkMeter: measures the links of this rank while the program starts. To each of a few peers it
// sends small probes (latency) and then larger ones (bandwidth); peers echo. Communication thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "runtime/comm/messages.hpp"

namespace tessera::runtime {

class Communicator;

class LinkMeter {
 public:
  using Result = std::function<void(Rank peer, balancer::Time latency, double bandwidth)>;
  LinkMeter(Communicator& comm, Rank self, Result result) : comm_(comm), self_(self), result_(result) {}

  // Peers at distance 1, 2, 4, ... among `worker_ranks`.
  void start(std::int32_t worker_ranks);
  void on(Rank from, LinkProbe&&);

  // What moving costs from here, by the measured peers; false when nothing is measured (yet).
  bool typical(balancer::Time& latency, double& bandwidth) const;

 private:
  struct State {
    std::uint32_t step = 0;
    Clock::time_point sent;
    std::int64_t round_trip = INT64_MAX;  // ns, best of the small ones
    double bandwidth = 0;                 // best of the larger ones
  };
  void probe(Rank peer, State&);

  Communicator& comm_;
  Rank self_;
  Result result_;
  std::map<Rank, State> states_;
};

}  // namespace tessera::runtime
