// Times as tests write them: 3 * kMs.
#pragma once

#include "balancer/policy.hpp"

namespace tessera::balancer {

constexpr Time kUs = 1'000, kMs = 1'000'000, kS = 1'000'000'000;

}  // namespace tessera::balancer
