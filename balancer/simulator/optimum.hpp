// The schedule that ends first, by search: of small graphs on few ranks, for the regret of a policy.
//
// It knows all fragments and weights beforehand and has what no run has: lines on which no message waits for another,
// hosts that need no time, values that are asked for before they are there. So no simulated run of the same workload on
// the same ranks ends before `least`; and where such a schedule has no messages that meet, a run could end at `found`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "balancer/simulator/cluster.hpp"
#include "balancer/simulator/program.hpp"

namespace tessera::balancer::simulator {

struct Optimum {
  Time least = 0;          // no schedule ends before
  Time found = 0;          // a schedule ends then; or the run that was known
  std::int64_t looks = 0;  // beginnings of schedules that were looked at
  bool proved = false;     // `found` is within a thousandth of the best; else the search was given up
};

// Fragments of a graph that are searched at most.
inline constexpr std::size_t kMostSearched = 64;

// unfold makes a graph of a program whose items nothing but their makers tells apart: loops, trees. Nothing where there
// are more than kMostSearched, or its parts say something to each other.
std::optional<Workload> unfold(Program&);

// Why there is no search for this, for a person; empty: there is.
std::string why_no_optimum(const Workload&, const Options&);

// optimum searches. `known`: the end of a run of the same, an upper bound; 0: none. After `most` looks it gives up.
Optimum optimum(const Workload&, const Options&, Time known = 0, std::int64_t most = 3'000'000);

}  // namespace tessera::balancer::simulator
