// The simulator: whole clusters in virtual time, with the very policy objects that run live.
//
// A rank is a queue of ready fragments, some threads and a policy; a link has a latency, a
// bandwidth, and delays messages at random under a seed, but keeps the order of each pair of ranks.
// What the policies hear and how soon follows the live host (runtime/balance): changes of the load
// are coalesced to one LoadChanged per half millisecond, or told at once when a rank runs low.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "balancer/policy.hpp"

namespace tessera::balancer::simulator {

struct Fragment {
  Group group;
  Time weight;             // on a rank of speed 1
  std::int64_t bytes = 0;  // of inputs, that travel when it is shipped from where it was born
  std::vector<std::size_t> children;  // born ready on its rank when it finishes
};

struct Birth {
  Time at;
  Rank rank;
  std::size_t fragment;
};

// Workload is a program: every fragment is born once, by `births` or as a child.
struct Workload {
  std::vector<GroupInfo> groups;
  std::vector<Fragment> fragments;
  std::vector<Birth> births;

  std::size_t add(Fragment f) {
    fragments.push_back(std::move(f));
    return fragments.size() - 1;
  }
  Time work() const;  // sum of the weights
};

struct Options {
  std::int32_t ranks = 2;
  std::int32_t threads = 1;
  std::vector<double> speeds;  // by rank; missing: 1
  Time latency = 50'000;       // ns
  Time jitter = 0;             // each message waits up to this much longer
  double bandwidth = 2e9;      // bytes per second, of each rank's way out
  std::uint64_t seed = 1;
  std::string balancer = "central";
  Settings settings;
  std::int64_t event_limit = 50'000'000;
};

struct Outcome {
  Time finished = 0;   // the last fragment ended
  Time quiet = 0;      // the last event of all
  bool ended = false;  // the events ran out before event_limit
  std::int64_t executed = 0;
  std::int64_t messages = 0;   // between policies
  std::int64_t shipments = 0;  // with something in them
  std::int64_t moved = 0;      // fragments
  std::int64_t bytes_moved = 0;
  std::int32_t most_moves = 0;  // of one fragment
  std::vector<Time> busy;       // by rank
  std::map<std::string, std::int64_t> decisions;
  std::vector<std::string> faults;  // what must never happen; empty
};

// simulate runs the workload to its end. Same arguments, same outcome.
Outcome simulate(const Workload&, const Options&);

}  // namespace tessera::balancer::simulator
