// Cases of bench_auto_set: a workload on a cluster, drawn by number.
#pragma once

#include <cstdint>
#include <string>

#include "balancer/simulator/cluster_model.hpp"

namespace tessera::bench {

struct Case {
  std::uint64_t number = 0;
  std::string workload;  // as `tessera simulate --workload` takes it
  std::int32_t ranks = 2;
  balancer::simulator::ClusterModel cluster;
};

// draw_case returns case `number`: the same each time. A run of it takes some 20 ms at least and has some 20,000
// fragments at most; links have 2 us to 5 ms and 100 Mbit/s to 40 Gbit/s, in every third case with tiers.
Case draw_case(std::uint64_t number);

// cluster_text is the cluster of the case as a file for `tessera simulate --cluster`.
std::string cluster_text(const Case&);

}  // namespace tessera::bench
