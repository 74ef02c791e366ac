// SpinMutex: one byte, a few nanoseconds when free. A thread that finds it taken tries a few times
// and then sleeps in the kernel (ranks outnumber cores: the holder may not be running).
//
// All operations are sequentially consistent: the sleepers protocol (work/sleepers.hpp) relies on
// "unlock, then look for sleepers" being ordered against "announce sleep, then lock and look".
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/cores/processor.hpp"

namespace tessera::runtime {

class SpinMutex {
 public:
  void lock() {
    for (int i = 0; i < 40; ++i) {
      std::uint32_t free = 0;
      if (state_.compare_exchange_weak(free, 1, std::memory_order_seq_cst)) return;
      spin_pause();
    }
    // 2: taken, and somebody may sleep.
    while (state_.exchange(2, std::memory_order_seq_cst) != 0) state_.wait(2);
  }
  bool try_lock() {
    std::uint32_t free = 0;
    return state_.compare_exchange_strong(free, 1, std::memory_order_seq_cst);
  }
  void unlock() {
    if (state_.exchange(0, std::memory_order_seq_cst) == 2) state_.notify_one();
  }

 private:
  std::atomic<std::uint32_t> state_{0};  // 0 free, 1 taken, 2 taken with sleepers
};

}  // namespace tessera::runtime
