// Loads of Charm++ programs, as `+LBDump` writes them: a binary file for each step of load balancing, FILE.STEP, with
// what each object took since the step before, where it was, and what objects sent each other.
#pragma once

#include <string>

#include "balancer/simulator/trace.hpp"

namespace tessera::balancer::simulator {

// Does the file begin as one?
bool is_lbdump(const std::string& path);
// Reads FILE.STEP, and FILE.STEP+1, ... as far as there are some. Throws TraceError, with the byte where it went wrong.
Trace read_lbdump(const std::string& path);

}  // namespace tessera::balancer::simulator
