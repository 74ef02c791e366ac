// Plans by index that stay, around a policy that balances within steps.
#pragma once

#include <memory>

#include "balancer/policy.hpp"

namespace tessera::balancer {

// make_settling has rank `planner` settle the series of all `executing` ranks (settler.hpp). While a plan stands,
// `inner` sees nothing ready of its groups, and so moves none of them.
std::unique_ptr<Policy> make_settling(std::unique_ptr<Policy> inner, const Setup& setup, Rank planner,
                                      std::int32_t executing);

}  // namespace tessera::balancer
