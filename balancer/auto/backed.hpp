// A coordinator's plans, backed by stealing.
#pragma once

#include <memory>

#include "balancer/policy.hpp"

namespace tessera::balancer {

// make_backed joins two policies of one rank into one: `plans` (of the `hierarchical` family) and
// `steals` (`steal`, default mode). Each hears of everything that happens on the rank, but only of its own
// messages, timers and shipments, and both of calls. Plans hear of thefts, too, unless fragments make others.
std::unique_ptr<Policy> make_backed(Rank self, std::unique_ptr<Policy> plans, std::unique_ptr<Policy> steals);

}  // namespace tessera::balancer
