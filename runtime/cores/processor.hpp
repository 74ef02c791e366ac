// What a kind of processor has of its own: no other file names one.
#pragma once

#include <chrono>
#include <cstdint>

namespace tessera::runtime {

// spin_pause stands between two looks at memory that another thread is about to write.
inline void spin_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // `yield` does nothing on most of them
#endif
}

// processor_ticks: a clock that is read in nanoseconds, some three ticks in each. The same on all cores of a host.
#if defined(__x86_64__)
inline std::uint64_t processor_ticks() { return __builtin_ia32_rdtsc(); }
#elif defined(__aarch64__)
namespace detail {
inline std::uint64_t ticks_of_count() {
  constexpr std::uint64_t kTicks = 3'000'000'000;  // a second
  std::uint64_t counts = 0;
  asm("mrs %0, cntfrq_el0" : "=r"(counts));
  return counts == 0 || counts >= kTicks ? 1 : kTicks / counts;
}
inline const std::uint64_t of_count = ticks_of_count();
}  // namespace detail
inline std::uint64_t processor_ticks() {
  std::uint64_t counts = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(counts));
  return counts * detail::of_count;
}
#else
inline std::uint64_t processor_ticks() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1)) *
         3;
}
#endif

}  // namespace tessera::runtime
