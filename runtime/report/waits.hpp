// What a waiting fragment needs, and what it would assign if it ran, as far as its record tells.
#pragma once

#include <vector>

#include "runtime/abi/tessera/abi.hpp"
#include "runtime/report/wait_graph.hpp"

namespace tessera::runtime {

// `slots`: the inputs that it lacks.
WaitingFragment waits_of(const abi::Program&, const abi::Cf*, const std::vector<unsigned>& slots);
// The lower half of the id.
std::uint64_t name_of_input(const abi::Cf*, unsigned slot);

}  // namespace tessera::runtime
