// `proportional`: iterative programs on ranks that change, come and go. Shares of each iteration
// follow the rates measured in the one before.
#pragma once

#include "balancer/policy.hpp"

namespace tessera::balancer {

const PolicyInfo& proportional_info();

}  // namespace tessera::balancer
