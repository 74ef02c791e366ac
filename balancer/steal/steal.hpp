// `steal`: decentralised, a rank that runs out of work asks others. Two modes behind one name:
// the source's protocol as published (faithful.cpp) and the strongest stealer we can build on it
// (stealer.cpp).
#pragma once

#include "balancer/policy.hpp"

namespace tessera::balancer {

const PolicyInfo& steal_info();

std::unique_ptr<Policy> make_faithful_stealer(const Setup&);
// Of the default mode; `auto` runs it beside a coordinator, which has other timers.
constexpr std::uint32_t kStealTimer = 16;
std::unique_ptr<Policy> make_stealer(const Setup&);

}  // namespace tessera::balancer
