// The time-stamp counter, the clock for what lasts nanoseconds.
#pragma once

#include <cstdint>

namespace tessera::runtime {

inline std::uint64_t ticks() { return __builtin_ia32_rdtsc(); }
double ns_per_tick();  // measured over the time since the process started

}  // namespace tessera::runtime
