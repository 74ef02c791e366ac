// The time no schedule can beat.
#pragma once

#include "balancer/simulator/cluster.hpp"

namespace tessera::balancer::simulator {

// best_time is the larger of the critical path on the fastest rank and the time the executing
// ranks together, with what others leave them, need for the work. Ranks that are away count for
// nothing meanwhile. `work` is ns on a rank of speed 1, `critical_path` on the fastest, with the time that passes
// before fragments come from outside.
Time best_time(const Options&, Time work, Time critical_path);
// The speed of the fastest rank that executes.
double fastest_speed(const Options&);

// The share of a core that each of `running` threads gets beside `tasks` others on `cores` cores.
inline double share(double running, double tasks, double cores) {
  return running + tasks <= cores ? 1 : cores / (running + tasks);
}

}  // namespace tessera::balancer::simulator
