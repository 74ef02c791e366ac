// LinkMeter: measures the links of this rank: to each of a few peers, one after the other, it sends probes
// (probing.hpp), and it answers those of others, with when their parts came (train.hpp). Balancers move nothing large
// over a link that is not measured, so the first probes with a payload tell already, and larger ones correct that. The
// first round runs while the program starts; later ones repeat it, because a start-up measured on busy cores shows the
// cores, not the link. Communication thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/balance/probing.hpp"
#include "runtime/comm/messages.hpp"

namespace tessera::runtime {

class Communicator;

class LinkMeter {
 public:
  using Result = std::function<void(Rank peer, balancer::Time latency, double bandwidth)>;
  LinkMeter(Communicator& comm, Rank self, Result result) : comm_(comm), self_(self), result_(std::move(result)) {}
  struct Measured {
    Rank peer;
    balancer::Time latency = 0;
    double bandwidth = 0;
  };

  // Peers at distance 1, 2, 4, ... among `worker_ranks`. `near`: those that share memory with this rank.
  void start(std::int32_t worker_ranks, const std::function<bool(Rank)>& near);
  // A fragment has made a value of so many bytes. Any thread.
  void made(std::uint64_t bytes) {
    if (bytes > largest_.load(std::memory_order_relaxed)) largest_.store(bytes, std::memory_order_relaxed);
  }
  void on(Rank from, LinkProbe&&);
  void on(Rank from, const LinkAnswer&);
  // Begins a later round when it is due.
  void turn(Clock::time_point now);
  Clock::time_point next(Clock::time_point now) const;

  // A look at the transport that began then (ticks) has found nothing: what comes later was not there yet. Where parts
  // are expected, that is so only if `unread` says that nothing is there which the look has not found: MPI looks at its
  // sockets now and then, and parts that had come long before would seem to come one after the other.
  template <class Unread>
  void found_nothing(std::uint64_t began, Unread unread) {
    if (began > expected_until_ || !unread()) looked_ = began;
  }

  std::vector<Rank> peers() const;
  // The last result of each peer; any thread.
  std::vector<Measured> measured() const;

  // What moving costs from here, by the measured peers; false when nothing is measured (yet).
  bool typical(balancer::Time& latency, double& bandwidth) const;

 private:
  struct Peer {
    Rank rank;
    std::unique_ptr<Probing> probing;
  };
  struct Train {  // coming from one rank
    std::uint32_t number = 0;
    std::uint32_t missing = 0;
    TrainArrivals arrivals;
    Clock::time_point latest;
  };
  // A round with what was left out is due: larger values are made now.
  bool more_wanted() const;
  void note(const Measured&);
  void send_probe();

  Communicator& comm_;
  Rank self_;
  Result result_;
  std::vector<Peer> peers_;
  std::size_t peer_ = 0;  // being measured
  Probe probe_;           // under way
  std::uint32_t number_ = 0;
  Clock::time_point sent_;
  std::map<Rank, Train> trains_;
  std::uint64_t looked_ = 0, expected_until_ = 0;  // ticks
  std::atomic<std::uint64_t> largest_{0};
  mutable std::mutex measured_mutex_;
  std::vector<Measured> measured_;
  bool running_ = false;
  int rounds_ = 0;
  Clock::time_point next_round_;
  Clock::duration pause_{};
};

}  // namespace tessera::runtime
