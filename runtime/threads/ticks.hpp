// The time-stamp counter, the clock for what lasts nanoseconds.
#pragma once

#include "runtime/cores/processor.hpp"
#include "runtime/threads/simulation.hpp"

namespace tessera::runtime {

inline std::uint64_t ticks() {
  if (simulation != nullptr) [[unlikely]]
    return static_cast<std::uint64_t>(simulation->now().time_since_epoch().count());
  return processor_ticks();
}
double ns_per_tick();  // measured over the time since the process started

}  // namespace tessera::runtime
