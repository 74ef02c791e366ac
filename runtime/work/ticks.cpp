#include "runtime/work/ticks.hpp"

#include <chrono>

namespace tessera::runtime {
namespace {

using Clock = std::chrono::steady_clock;
const Clock::time_point start_time = Clock::now();
const std::uint64_t start_ticks = ticks();

}  // namespace

double ns_per_tick() {
  const std::uint64_t t = ticks() - start_ticks;
  const auto ns = std::chrono::duration<double, std::nano>(Clock::now() - start_time).count();
  return t == 0 ? 1.0 : ns / static_cast<double>(t);
}

}  // namespace tessera::runtime
