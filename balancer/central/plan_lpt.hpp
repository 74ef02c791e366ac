// LPT (longest processing time first) over groups, and lower bounds of any plan.
#pragma once

#include "balancer/central/plan.hpp"

namespace tessera::balancer {

struct LowerBound {
  double level = 0;           // where all who can share would finish if fragments were water
  double fragment = 0;        // what moves takes so long on average
  double ceiling = 0;         // the level, or the heaviest fragment: nothing that moves needs to end earlier
  double finish = 0;          // no plan finishes earlier
  std::size_t receivers = 0;  // workers that can take work
};
LowerBound lower_bound(const std::vector<Load>&);
// The same, and Load::finish of each worker from the same pass over the groups.
LowerBound lower_bound(const std::vector<Load>&, std::vector<double>& finish);

// plan_lpt deals all movable fragments anew, heaviest first, each to the worker that would finish
// first, and moves what is not where it was dealt to. Fragments of equal weight are one class,
// dealt at once: O(classes x workers x log workers) however many fragments there are.
Plan plan_lpt(const std::vector<Load>&);

}  // namespace tessera::balancer
