// LinkMeter: measures the links of this rank. To each of a few peers, one after the other, it sends
// small probes (latency) and larger ones (bandwidth); peers echo. The first round runs while the
// program starts; later ones repeat it, because a start-up measured on busy cores shows the cores,
// not the link. Latency is the best of all. Bandwidth is all bytes by the time they took on their
// way and into memory that nobody has written yet, where most values that move end: probes land in
// memory used over and over, and alone would promise several times too much. Communication thread.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/comm/messages.hpp"

namespace tessera::runtime {

class Communicator;

class LinkMeter {
 public:
  using Result = std::function<void(Rank peer, balancer::Time latency, double bandwidth)>;
  LinkMeter(Communicator& comm, Rank self, Result result)
      : comm_(comm), self_(self), result_(std::move(result)) {}

  // Peers at distance 1, 2, 4, ... among `worker_ranks`.
  void start(std::int32_t worker_ranks);
  void on(Rank from, LinkProbe&&);
  // Begins a later round when it is due.
  void turn(Clock::time_point now);
  Clock::time_point next(Clock::time_point now) const;

  // What moving costs from here, by the measured peers; false when nothing is measured (yet).
  bool typical(balancer::Time& latency, double& bandwidth) const;

 private:
  struct Peer {
    Rank rank;
    std::int64_t round_trip = INT64_MAX;  // ns, best of the small ones
    double bytes = 0, transfer = 0;       // of the larger ones: sums of bytes and ns
    double bandwidth() const { return bytes / transfer * 1e9; }  // bytes/s, once bytes > 0
  };
  void probe();

  Communicator& comm_;
  Rank self_;
  Result result_;
  std::vector<Peer> peers_;
  std::size_t peer_ = 0;  // being measured
  std::uint32_t step_ = 0;
  std::uint32_t number_ = 0;  // of the probe under way
  Clock::time_point sent_;
  double first_touch_ = 0;  // ns per byte of fresh memory
  bool running_ = false;
  int rounds_ = 0;
  Clock::time_point next_round_;
  Clock::duration pause_{};
};

}  // namespace tessera::runtime
