// Loads of vt programs, as their LB data files have them and LBAF reads them: one JSON file per rank, phases of tasks
// that objects did, and what objects sent each other. As a workload: a phase is an iteration, with a barrier after it.
#pragma once

#include <string>

#include "balancer/simulator/trace.hpp"

namespace tessera::balancer::simulator {

// Is it the name of such a file, `NAME.0.json` of rank 0?
bool names_lbaf(const std::string& path);
// Reads NAME.0.json and NAME.1.json, ... as far as there are some. Throws TraceError.
Trace read_lbaf(const std::string& path);

}  // namespace tessera::balancer::simulator
