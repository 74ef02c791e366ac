// Fabric: the lines between hosts, of a tree of switches or of a torus, and which of them a message takes.
#pragma once

#include <cstdint>
#include <vector>

#include "balancer/types.hpp"

namespace tessera::balancer::simulator {

// Groups of hosts, groups of those, ...: what leaves a group of this tier goes over one of its lines, and comes in over
// one of the other group's.
struct Tier {
  std::int32_t of = 2;     // hosts in a group, or groups of the tier before
  std::int32_t lines = 1;  // out, and as many in; a pair of hosts always takes the same one
  Time latency = 1'000;    // ns more, for each message that leaves a group
  double bandwidth = 1e9;  // bytes per second, of a line
};

// Hosts in a grid whose sides are closed to rings, each with two lines to its neighbours in each direction.
struct Torus {
  std::vector<std::int32_t> sides;  // empty: no torus
  Time latency = 1'000;             // ns for each step
  double bandwidth = 1e9;           // bytes per second, of a line
};

class Fabric {
 public:
  Fabric() = default;
  // One of the two, or neither.
  Fabric(const std::vector<Tier>& tiers, const Torus& torus, std::size_t hosts);

  struct Route {
    std::vector<std::uint32_t> lines;  // in the order in which they are passed
    Time latency = 0;
  };
  // route leaves the way from one host to another in `into`: first the lesser coordinate; the shorter way round, of
  // two as short the one that counts up. Within a tree the lowest switch that both hang from.
  void route(std::size_t from, std::size_t to, Route& into) const;
  bool empty() const { return tiers_.empty() && torus_.sides.empty(); }
  std::size_t lines() const { return lines_; }
  double bandwidth(std::uint32_t line) const;
  // Of any message between two hosts.
  Time least_latency() const { return torus_.sides.empty() ? 0 : torus_.latency; }

 private:
  void route_in_torus(std::size_t from, std::size_t to, Route& into) const;

  std::vector<Tier> tiers_;
  std::vector<std::size_t> hosts_in_;    // by tier: hosts of a group
  std::vector<std::size_t> first_line_;  // by tier: out and in of a group's lines side by side; a last one: all
  Torus torus_;
  std::size_t lines_ = 0;
};

}  // namespace tessera::balancer::simulator
