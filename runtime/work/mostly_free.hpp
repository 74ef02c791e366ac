// Does most of an iteration wait for no other iteration of its loop? Else it is no work for another rank: what is made
// by it waits there, for the whole run, and with it what it reads. But calls that wait for each other (Block::carried)
// may be the lesser part, as in `for i { y[i] = heavy(i); s[i] = add(s[i - 1], y[i]); }`.
#pragma once

#include "runtime/abi/tessera/abi.hpp"
#include "runtime/work/group_stats.hpp"

namespace tessera::runtime {

// By the time of all that has run here, and of one of each group: a rank that has got a part may have run only what
// waits for nothing. False until what waits is known.
inline bool mostly_free(const abi::Block& range, const GroupStats& stats) {
  const std::uint32_t* g = range.carried;
  if (g == nullptr) return true;
  struct Time {
    double all = 0, of_one = 0;
  };
  const auto next_list = [&] {
    Time t;
    for (; *g != ~0u; ++g) t = {t.all + stats.read(*g).sum, t.of_one + stats.mean(*g)};
    ++g;
    return t;
  };
  const Time waiting = next_list(), free = next_list();
  return waiting.of_one > 0 && free.of_one > waiting.of_one && free.all > waiting.all;
}

}  // namespace tessera::runtime
