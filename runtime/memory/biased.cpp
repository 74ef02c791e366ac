#include "runtime/memory/biased.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <mutex>

namespace tessera::runtime::bias {

State state;
__thread bool mine = false;

namespace {

bool prepared = false;
std::mutex claiming;           // who claims
__thread int claimed_by_this;  // so many sections, one in another

bool barrier(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

void prepare() {
#ifndef __SANITIZE_THREAD__  // which sees no barrier of the kernel
  prepared = prepared || barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
#endif
}

bool begin() {
  bool off = false;
  return prepared && state.on.compare_exchange_strong(off, true);
}
void own() { mine = on(); }
void end() {
  if (!on() || !enter()) return;
  state.on.store(false);
  leave();
}

// It has announced itself, and another one has claimed the lock.
bool wait_outside() {
  do {
    state.inside.store(0, std::memory_order_release);
    const std::lock_guard until_given_back(claiming);
    if (!on()) return false;
    state.inside.store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } while (state.claimed.load(std::memory_order_acquire));
  return true;
}

bool claim() {
  if (claimed_by_this > 0) return ++claimed_by_this, true;
  claiming.lock();
  claimed_by_this = 1;
  state.claimed.store(true);
  barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  // What the worker does inside takes less than it takes to sleep, unless it has no core.
  for (int i = 0; state.inside.load(std::memory_order_acquire) != 0; ++i) {
    if (i < 100) {
      spin_pause();
    } else {
      const timespec moment{0, 20'000};
      nanosleep(&moment, nullptr);
    }
  }
  if (on()) return true;
  give_back();
  return false;
}

void give_back() {
  if (--claimed_by_this > 0) return;
  state.claimed.store(false, std::memory_order_release);
  claiming.unlock();
}

}  // namespace tessera::runtime::bias
