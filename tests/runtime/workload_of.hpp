// The graph as a whole: a test's is small.
#pragma once

#include "runtime/trace/trace_graph.hpp"

namespace tessera::runtime {

inline balancer::simulator::Workload workload_of(const TraceGraph& graph) {
  balancer::simulator::Workload work;
  graph.put_fragments([&](const balancer::simulator::Fragment& f, std::size_t parent, Rank born) {
    const std::size_t number = work.add(f);
    if (parent == balancer::simulator::TracePieces::kNoParent) {
      work.births.push_back({0, born, number});
    } else {
      work.fragments[parent].children.push_back(number);
    }
  });
  return work;
}

}  // namespace tessera::runtime
