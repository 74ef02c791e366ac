// Is it worth while to give iterations of a loop to another rank? What waits for another iteration (Block::carried)
// waits there, for the whole run, and with it what it reads: then it is none. But such calls may be the lesser part, as
// in `for i { heavy(i, y[i]); add(s[i - 1], y[i], s[i]); }`, and what they read little.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/abi/tessera/abi.hpp"
#include "runtime/work/group_stats.hpp"

namespace tessera::runtime {

// What is carried travels for each iteration: some 8 us, in ticks.
inline constexpr double kCarryingTicks = 20'000;
// What waits for all of the iterations may hold so much.
inline constexpr double kMostWaitingBytes = 32 << 20;

// By the time of all that has run here, and of one of each group: a rank that has got a part may have run only what
// waits for nothing. False until what waits is known.
inline bool worth_giving(const abi::Block& range, std::int64_t iterations, const GroupStats& stats) {
  const std::uint32_t* g = range.carried;
  if (g == nullptr) return true;
  struct Calls {
    double time = 0, of_one = 0, bytes = 0;
  };
  const auto next_list = [&] {
    Calls c;
    for (; *g != ~0u; ++g) c = {c.time + stats.read(*g).sum, c.of_one + stats.mean(*g), c.bytes + stats.growth(*g)};
    ++g;
    return c;
  };
  const Calls waiting = next_list(), free = next_list();
  return waiting.of_one > 0 && free.of_one > std::max(waiting.of_one, kCarryingTicks) && free.time > waiting.time &&
         free.bytes * static_cast<double>(iterations) < kMostWaitingBytes;
}

}  // namespace tessera::runtime
