// `auction`, `torus`, `tree`: a rank that runs empty asks its neighbours for their load and the
// most loaded of them for work. One machine; only the neighbourhood differs.
#pragma once

#include "balancer/auction/neighbourhood.hpp"
#include "balancer/policy.hpp"

namespace tessera::balancer {

const PolicyInfo& auction_info();
const PolicyInfo& torus_info();
const PolicyInfo& tree_info();

std::unique_ptr<Policy> make_auctioneer(Shape, const Setup&);

}  // namespace tessera::balancer
