// Profiles of groups across runs: between the runtime's numbers and balancer/profile.hpp.
#pragma once

#include <string>

#include "balancer/profile.hpp"
#include "runtime/report/summary.hpp"
#include "runtime/run.hpp"

namespace tessera::runtime {

// Both return what is wrong, for a person; empty when all is well.
std::string read_profile(const abi::Program&, const RunOptions&, balancer::Profile&);
std::string save_profile(const RunOver&, const Summary&);

}  // namespace tessera::runtime
