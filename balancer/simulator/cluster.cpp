#include "balancer/simulator/cluster.hpp"

#include "balancer/simulator/graph.hpp"

namespace tessera::balancer::simulator {

Outcome simulate(const Workload& work, const Options& options) {
  Graph graph(work, executing_ranks(options));
  return simulate(graph, options);
}

}  // namespace tessera::balancer::simulator
