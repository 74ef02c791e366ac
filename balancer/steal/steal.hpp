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
// Tickets of shipments that nobody else need hear of have it: fragments make others, and there are many thefts.
constexpr std::uint64_t kOfGrowth = std::uint64_t{1} << 39;
// And the ticket of what somebody else has shipped from this rank.
constexpr std::uint64_t kNoTheft = 0;
std::unique_ptr<Policy> make_stealer(const Setup&);

}  // namespace tessera::balancer
