// How often a host tells its policy of changes, live and simulated.
#pragma once

#include "balancer/types.hpp"

namespace tessera::balancer {

// Ordinary changes at most this often.
inline constexpr Time kPumpInterval = 500'000;
// A queue that ran dry, since a fragment ended, at most this often.
inline constexpr Time kUrgentInterval = 50'000;

}  // namespace tessera::balancer
