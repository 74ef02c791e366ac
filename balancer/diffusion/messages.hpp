// What the ranks of `diffusion` tell each other.
#pragma once

#include <cstdint>
#include <string>

#include "balancer/types.hpp"

namespace tessera::balancer {

// a rank -> its neighbours: what waits here.
struct DiffusionLoad {
  Time load = 0;      // ns of work for each of its threads
  bool idle = false;  // nothing runs there either
  friend bool operator==(const DiffusionLoad&, const DiffusionLoad&) = default;
};

// One line of a transcript.
std::string text(const DiffusionLoad&);

}  // namespace tessera::balancer
