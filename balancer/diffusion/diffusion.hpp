// `diffusion`: load flows between neighbours, from where there is more to where there is less (Cybenko 1989).
#pragma once

#include "balancer/policy.hpp"

namespace tessera::balancer {

const PolicyInfo& diffusion_info();

}  // namespace tessera::balancer
