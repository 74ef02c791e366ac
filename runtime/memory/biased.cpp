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
  Mode off = Mode::off;
  return prepared && state.mode.compare_exchange_strong(off, Mode::on);
}
void own() { mine = on(); }
void end() {
  if (!on() || !enter()) return;
  state.mode.store(Mode::off);
  leave();
}

// It has announced itself, and another one has claimed the lock; or all has ended. Who is in a section goes on.
bool wait_outside(std::uint32_t around) {
  if (around > 0) return true;
  while (state.mode.load(std::memory_order_acquire) != Mode::on) {
    state.inside.store(0, std::memory_order_release);
    if (!on()) return false;
    const std::lock_guard until_given_back(claiming);
    state.inside.store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  return true;
}

bool claim() {
  if (claimed_by_this > 0) return ++claimed_by_this, true;
  claiming.lock();
  Mode is_on = Mode::on;
  if (state.mode.compare_exchange_strong(is_on, Mode::claimed)) {
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
    claimed_by_this = 1;
    if (on()) return true;
    claimed_by_this = 0;
  }
  claiming.unlock();
  return false;
}

void give_back() {
  if (--claimed_by_this > 0) return;
  Mode claimed = Mode::claimed;
  state.mode.compare_exchange_strong(claimed, Mode::on);
  claiming.unlock();
}

}  // namespace tessera::runtime::bias
