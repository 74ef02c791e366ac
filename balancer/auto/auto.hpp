// `auto`: no name given, and more than one rank. See docs/policies/auto.md for what the choice is
// founded on.
#pragma once

#include "balancer/policy.hpp"

namespace tessera::balancer {

const PolicyInfo& auto_info();

// What `auto` runs on so many ranks: one of the other policies, with these settings. It depends on
// nothing that differs between ranks, so all of them agree without a word.
struct Choice {
  std::string balancer;
  Settings settings;
};
Choice choose(const Settings&, std::int32_t ranks);

}  // namespace tessera::balancer
