// What the ranks of a policy from a shared object say to each other.
#pragma once

#include <cstdint>
#include <string>

#include "balancer/types.hpp"

namespace tessera::balancer {

// Its own business: a number, and bytes if that is not enough.
struct PluginMessage {
  std::int64_t number = 0;
  std::string bytes;
  friend bool operator==(const PluginMessage&, const PluginMessage&) = default;
};

// One line of a transcript.
std::string text(const PluginMessage&);

}  // namespace tessera::balancer
