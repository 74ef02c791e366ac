// A coordinator's plans, backed by stealing.
#pragma once

#include <memory>

#include "balancer/policy.hpp"

namespace tessera::balancer {

// make_backed joins two policies of one rank into one: `plans` (of the `hierarchical` family) and
// `steals` (`steal`, default mode). Each hears of everything that happens on the rank, but only of its own
// messages, timers and shipments, and both of calls: what the other has shipped shows in the LoadChanged that follows.
std::unique_ptr<Policy> make_backed(std::unique_ptr<Policy> plans, std::unique_ptr<Policy> steals);

}  // namespace tessera::balancer
