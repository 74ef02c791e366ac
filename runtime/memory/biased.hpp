// BiasedMutex: what keeps fragments and their data is under such locks. Each is a SpinMutex of its own, unless one
// worker is alone in the process (`bias`): then all of them are one lock, biased to that worker. It takes it by a plain
// write, some 1 ns; a pair of atomic operations is 13, and half of a light fragment's time went there.
//
// Others, as the communication thread, take it seldom, and pay for both:
//
//   the worker    writes `inside`, reads `mode`
//   another       writes `mode`, has the kernel put a barrier into all running threads (membarrier), reads `inside`
//
// So one of them sees the other: the worker goes out and waits, or the other one waits until it is out. Critical
// sections may be nested, as under SpinMutexes; but while all are one lock, whoever takes it may hold no other lock
// that is taken inside of one.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/memory/lock.hpp"

namespace tessera::runtime {

namespace bias {

enum class Mode : std::uint32_t { off, on, claimed };  // claimed: by another

struct alignas(64) State {
  std::atomic<std::uint32_t> inside{0};  // so many sections, one in another, the worker is in
  std::atomic<Mode> mode{Mode::off};
};
extern State state;
extern __thread bool mine;

// Before the process has a second thread: afterwards the kernel takes milliseconds for it.
void prepare();
// While nobody holds a BiasedMutex: all are one from now on. False: not here, or another worker has it.
bool begin();
// The worker: this thread.
void own();
// Each is its own again. Who calls holds none.
void end();

inline bool on() { return state.mode.load(std::memory_order_relaxed) != Mode::off; }
bool wait_outside(std::uint32_t around);
bool claim();
void give_back();

// False: all has ended meanwhile.
inline bool enter() {
  if (!mine) [[unlikely]]
    return claim();
  const std::uint32_t around = state.inside.load(std::memory_order_relaxed);
  state.inside.store(around + 1, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);  // for the processor the other one's barrier does it
  if (state.mode.load(std::memory_order_acquire) != Mode::on) [[unlikely]]
    return wait_outside(around);
  return true;
}
inline void leave() {
  if (!mine) [[unlikely]]
    return give_back();
  state.inside.store(state.inside.load(std::memory_order_relaxed) - 1, std::memory_order_release);
}

}  // namespace bias

class BiasedMutex {
 public:
  void lock() {
    if (bias::on() && bias::enter()) return;
    own_.lock();
  }
  void unlock() { bias::on() ? bias::leave() : own_.unlock(); }

 private:
  SpinMutex own_;
};

}  // namespace tessera::runtime
