// `central`: workers report, one coordinator plans, workers ship. worker.hpp and coordinator.hpp
// are the two roles; a rank has one of them, or both when the coordinator is colocated.
#pragma once

#include "balancer/policy.hpp"

namespace tessera::balancer {

const PolicyInfo& central_info();

// CentralParameters is the parameter file, parsed.
struct CentralParameters {
  bool colocated = false;
  bool faithful = false;        // one plan at a time: the source's global rebalance_count
  bool makespan = true;         // planner
  double weight_memory = 1000;  // completions a group's mean remembers; 0: all
  Time jobs_left_threshold = 0;
  bool jobs_left_auto = true;
  double jobs_difference_ratio = 0;
  bool difference_auto = true;
  bool priced = true;          // by lines and idle ranks (balancer/price.hpp), not by the margin
  double transfer_margin = 2;  // where it is not, or can't be: between groups of ranks
  Time min_gain = 0;
  bool min_gain_auto = true;
  Time ship_window = 0;
  Time plan_interval = 0;
  Time report_delay = 0;
  Time report_interval = 0;
  Time growing_interval = 0;
  double report_change = 0.2;
  bool settle = true;
};
CentralParameters central_parameters(const Settings&);
// The same for another policy whose parameters include central's, without `faithful`.
CentralParameters planning_parameters(const PolicyInfo&, const Settings&);

}  // namespace tessera::balancer
