// A policy that moves fragments all the time, whatever it costs, wherever to: those of the registry hardly ever find that it
// pays to move what a random program makes.
#pragma once

#include "balancer/policy.hpp"

namespace tessera::differential {

const balancer::PolicyInfo& restless_info();

}  // namespace tessera::differential
