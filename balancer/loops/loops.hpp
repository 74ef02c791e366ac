// `equal`, `predictive`, `demand`: loops over independent fragments. The first two deal a loop out
// as soon as its fragments are ready (dealer.cpp); with `demand` the rank where the loop was born
// hands out blocks on request (demand.cpp).
#pragma once

#include "balancer/policy.hpp"

namespace tessera::balancer {

const PolicyInfo& equal_info();
const PolicyInfo& predictive_info();
const PolicyInfo& demand_info();

}  // namespace tessera::balancer
