// LinkMeter: measures the links of this rank. To each of a few peers, one after the other, it sends
// small probes (latency) and larger ones (bandwidth), up to where a link is slow and no larger than the values that are
// made here: moving small ones costs latency, and a probe of 1 MB what 100 steps of a fine program do. Peers echo.
// Balancers move nothing large over a link that is not measured, so the first two with a payload tell
// already, and larger ones correct that. The first round runs while the program starts; later ones repeat it, because a start-up
// measured on busy cores shows the cores, not the link; the best counts. Bandwidth includes the
// first touch of memory at the receiver, where most values that move end: probes land in memory
// used over and over, and by themselves would promise several times too much. Communication thread.
#pragma once

#include <atomic>
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
  // A fragment has made a value of so many bytes. Any thread.
  void made(std::uint64_t bytes) {
    if (bytes > largest_.load(std::memory_order_relaxed)) largest_.store(bytes, std::memory_order_relaxed);
  }
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
    double bandwidth = 0;                 // bytes/s, best of the larger ones; 0: not yet
  };
  bool wanted(std::size_t step) const;
  // A round with what was left out is due: larger values are made now.
  bool more_wanted() const { return rounds_ > 0 && wanted(left_out_); }
  void probe();

  Communicator& comm_;
  Rank self_;
  Result result_;
  std::vector<Peer> peers_;
  std::size_t peer_ = 0;  // being measured
  std::uint32_t step_ = 0;
  std::size_t left_out_ = 0;  // the first step that the latest round was without
  std::uint32_t number_ = 0;  // of the probe under way
  Clock::time_point sent_;
  double first_touch_ = 0;  // ns per byte of fresh memory
  std::atomic<std::uint64_t> largest_{0};
  bool running_ = false;
  int rounds_ = 0;
  Clock::time_point next_round_;
  Clock::duration pause_{};
};

}  // namespace tessera::runtime
