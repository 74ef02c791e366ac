// Where a signal has ended a run while a kernel has not returned, its worker's buffer is taken as it is; and the worker
// writes no more into it, but stands still until the process ends.
#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>

#include "runtime/threads/threads.hpp"

namespace tessera::runtime {

inline std::atomic<bool> traces_sealed{false};

inline void await_end_if_sealed() {
  while (traces_sealed.load(std::memory_order_relaxed)) [[unlikely]] pause();
}

// Who has just seen that they are not has this long to write some words.
inline void seal_traces() {
  traces_sealed.store(true);
  sleep_for(std::chrono::milliseconds(20));
}

}  // namespace tessera::runtime
