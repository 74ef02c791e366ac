// The time, as the runtime sees it.
#pragma once

#include "runtime/threads/simulation.hpp"

namespace tessera::runtime {

struct Clock {
  using duration = std::chrono::steady_clock::duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::steady_clock::time_point;
  static time_point now() { return simulation != nullptr ? simulation->now() : std::chrono::steady_clock::now(); }
};

}  // namespace tessera::runtime
