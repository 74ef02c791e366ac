// Loads that another runtime has measured: phases in which objects did tasks, and what they sent each other. As a
// workload: a phase is an iteration, with a barrier after it. What reads files makes phases.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "balancer/simulator/workload.hpp"

namespace tessera::balancer::simulator {

struct LoadTask {
  Time weight = 0;
  std::int32_t rank = 0;
  bool moves = true;
};
struct LoadEdge {
  std::string from, to;  // objects
  std::int64_t bytes;
};
struct LoadPhase {
  std::map<std::string, LoadTask> tasks;  // by object
  std::vector<LoadEdge> edges;
};

// LoadSums says no to what is negative, no number, or too much together with all before: sums are 64 bit.
class LoadSums {
 public:
  bool take_seconds(double s) { return s >= 0 && (seconds_ += s) < 4e9; }
  bool take_bytes(double b) { return b >= 0 && (bytes_ += b) < 1e18; }

 private:
  double seconds_ = 0, bytes_ = 0;
};

// What an object sends in a phase is read in the next one. `format` names where groups come from: lbaf.
Workload workload_of(const std::map<std::int64_t, LoadPhase>& phases, const std::string& format);

}  // namespace tessera::balancer::simulator
