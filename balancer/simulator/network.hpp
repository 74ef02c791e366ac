// Network: when a message that leaves one rank now is at the other's door, and when it is through
// it. Every host has one way out and one way in, every site one line out and one in, every rank its
// own path to the others of its host; each carries one message after the other. So does each line of the fabric between
// hosts, if there is one (fabric.hpp).
//
// Two messages from one rank to another never overtake each other. No state per pair is needed for
// that: waiting times inside a rank's way out only grow, and the jitter of a pair is a function of
// time that never falls faster than time passes.
#pragma once

#include <cstdint>
#include <vector>

#include "balancer/simulator/cluster.hpp"

namespace tessera::balancer::simulator {

class Network {
 public:
  explicit Network(const Options&);

  // The time at which the last byte reaches the receiver's way in. Occupies the ways out.
  Time depart(Time now, Rank from, Rank to, std::int64_t bytes);
  // The time at which the message, at the door at `now`, is through: at once when the way in is
  // free. Occupies it.
  Time enter(Time now, Rank from, Rank to, std::int64_t bytes);

  // As a pair of ranks that nobody disturbs sees it.
  LinkModel link(Rank from, Rank to) const;
  // No message takes less than this.
  Time least_latency() const { return least_latency_; }

 private:
  std::size_t host(Rank r) const {
    const auto i = static_cast<std::size_t>(index(r));
    return hosts_.empty() ? i : static_cast<std::size_t>(hosts_[i]);
  }
  std::size_t site(Rank r) const { return sites_.empty() ? 0 : static_cast<std::size_t>(sites_[host(r)]); }
  bool inside(Rank from, Rank to) const { return !hosts_.empty() && host(from) == host(to); }
  const LinkModel& kind(Rank from, Rank to) const {
    return inside(from, to) ? inside_ : site(from) == site(to) ? near_ : wide_;
  }
  Time jitter(Time at, Rank from, Rank to, Time most) const;

  std::vector<std::int32_t> hosts_, sites_;
  LinkModel near_, inside_, wide_;
  std::uint64_t seed_;
  Time least_latency_ = 0;
  std::vector<Time> host_out_, host_in_, rank_out_, rank_in_, site_out_, site_in_;
  Fabric fabric_;
  std::vector<Time> fabric_free_;  // by line
  mutable Fabric::Route route_;    // of the message in question
};

}  // namespace tessera::balancer::simulator
