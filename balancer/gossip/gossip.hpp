// `gossip`: who has little to do is rumoured about, and who has much sends some of it to those he has heard of
// (Grapevine: Menon and Kale 2013; TemperedLB: Lifflander et al. 2021).
#pragma once

#include "balancer/policy.hpp"

namespace tessera::balancer {

const PolicyInfo& gossip_info();

}  // namespace tessera::balancer
