// `restless`: moves fragments all the time, whatever it costs, wherever to. For tests: the others hardly ever find that
// it pays to move what a test program makes.
#pragma once

#include "balancer/policy.hpp"

namespace tessera::balancer {

const PolicyInfo& restless_info();

}  // namespace tessera::balancer
