// `hierarchical`: coordinators in a tree. Leaves (leaf.hpp) do for a group of workers what
// `central`'s coordinator does for all; the root (root.hpp) knows totals of groups only, and has
// one group send to another. The workers are `central`'s (central/worker.hpp).
#pragma once

#include "balancer/central/central.hpp"

namespace tessera::balancer {

const PolicyInfo& hierarchical_info();

struct HierarchicalParameters {
  CentralParameters planning;      // of the leaves
  std::int32_t group_size = 0;     // workers of one leaf at most; 0: by the number of ranks
  double group_difference = 0;     // between two groups, below which nothing moves
  double group_report_change = 0;  // of a group's load, that is reported
  Time group_interval = 0;         // between two reports of a leaf, and two plans of the root
};
HierarchicalParameters hierarchical_parameters(const Settings&);

}  // namespace tessera::balancer
