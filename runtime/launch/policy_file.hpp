// Policies from shared objects, for `--balancer ./mine.so`.
#pragma once

#include <string>
#include <string_view>

#include "balancer/policy.hpp"

namespace tessera::launch {

// Is it the name of a file, rather than of a policy?
bool names_file(std::string_view balancer);

// The policy of that name; of a file, which is loaded. Null: there is none of that name. Throws OptionsError when it is
// a file that has no policy for us.
const balancer::PolicyInfo* find_policy(const std::string& balancer);

}  // namespace tessera::launch
