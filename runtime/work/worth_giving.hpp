// Is it worth while to give iterations of a loop to another rank? What waits for another iteration (Block::carried)
// waits there, for the whole run, and with it what it reads: then it is none. But such calls may be the lesser part, as
// in `for i { heavy(i, y[i]); add(s[i - 1], y[i], s[i]); }`, and what they read little.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/abi/tessera/abi.hpp"
#include "runtime/work/group_stats.hpp"

namespace tessera::runtime {

// What follows others on another rank asks for each of their values when it comes to it, and waits for the answer: some
// 50 us, in ticks, of which that much is to be little.
inline constexpr double kFollowingTicks = 250'000;
// To ship one keeps each of the two ranks as busy as that: some 8 us (balancer::kShippings). So does what travels for
// each iteration that waits for another one.
inline constexpr double kLightTicks = 20'000;
// Of what reads nothing of others only what it makes travels, by itself in the worst case: 1 us.
inline constexpr double kLightBulkTicks = kLightTicks / 8;
// What waits for all of the iterations may hold so much.
inline constexpr double kMostWaitingBytes = 32 << 20;

// One turn of what follows others takes so long that asking them is little. False until that is known.
inline bool is_heavy(const std::uint32_t* groups, const GroupStats& stats) {
  double turn = 0;
  for (; *groups != ~0u; ++groups) turn += stats.mean(*groups);
  return turn >= kFollowingTicks;
}

// Are all kernels that such a loop's iterations call known to take less than shipping one of them? Where iterations
// read nothing of others, all together less than to ask for what they make.
inline bool is_light(const abi::Block& range, const GroupStats& stats) {
  int known = 0, heavy = 0;
  double sum = 0;
  std::int64_t made = 0;  // bytes
  const auto look = [&](std::uint32_t g) {
    const double mean = stats.mean(g);
    known += mean > 0 ? 1 : 0;
    heavy += mean >= kLightTicks ? 1 : 0;
    sum += mean;
    made += stats.read(g).bytes_out;
  };
  if ((range.flags & abi::kNested) != 0) {
    for (const std::uint32_t* w = range.within; w != nullptr && *w != ~0u; w += 2) {
      for (std::uint32_t g = w[0]; g < w[1]; ++g) look(g);
    }
  } else {
    for (const std::uint32_t* g = range.body_groups; g != nullptr && *g != ~0u; ++g) look(*g);
  }
  return known > 0 && ((range.flags & abi::kBulk) != 0 ? made > 0 && sum < kLightBulkTicks : heavy == 0);
}

// By the time of all that has run here, and of what one iteration makes: a rank that has got a part may have run only
// what waits for nothing. False until what waits is known.
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
  const Calls waiting = next_list();
  Calls free = next_list();
  // Of calls that depend on a condition fewer are made, of inner loops more.
  double made = 0;
  for (; *g != ~0u; ++g) made = std::max(made, static_cast<double>(stats.read(*g).count));
  if (made > 0) free.of_one = free.time / made;
  return waiting.of_one > 0 && free.of_one > std::max(waiting.of_one, kLightTicks) && free.time > waiting.time &&
         free.bytes * static_cast<double>(iterations) < kMostWaitingBytes;
}

}  // namespace tessera::runtime
