#include "runtime/threads/ticks.hpp"

#include <chrono>

#include "runtime/threads/clock.hpp"

namespace tessera::runtime {
namespace {

const Clock::time_point start_time = Clock::now();
const std::uint64_t start_ticks = ticks();

}  // namespace

double ns_per_tick() {
  if (simulation != nullptr) return 1;
  const std::uint64_t t = ticks() - start_ticks;
  const auto ns = std::chrono::duration<double, std::nano>(Clock::now() - start_time).count();
  return t == 0 ? 1.0 : ns / static_cast<double>(t);
}

}  // namespace tessera::runtime
