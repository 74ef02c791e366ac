// The worlds that are walked through.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/protocol/world.hpp"

namespace tessera::protocol {

// Each has more states than are visited.
std::vector<Setting> large_worlds();
// Few fragments, to which much happens; each is visited whole.
std::vector<Setting> narrow_worlds();
// One that comes of the seed: a few thousand states, or tens of thousands.
Setting random_world(std::uint64_t seed);
// One name, whose readers mostly begin on one rank and move often.
Setting moving_world(std::uint64_t seed);
// As random_world, with much more that happens to its fragments: for walks.
Setting deep_world(std::uint64_t seed);

}  // namespace tessera::protocol
