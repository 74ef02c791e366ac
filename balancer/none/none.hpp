// `none`: fragments stay where placement put them.
#pragma once

#include "balancer/policy.hpp"

namespace tessera::balancer {

const PolicyInfo& none_info();

}  // namespace tessera::balancer
