#include "runtime/journal/gate.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

namespace tessera::runtime::journal {
namespace {

bool order_all(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

std::atomic<std::uint8_t> Gate::state_{kOrdered};
std::mutex Gate::mutex_;
std::vector<Inside*> Gate::all_;

void Gate::add(Inside* inside) {
  const std::lock_guard hold(mutex_);
  all_.push_back(inside);
  static const bool orders = order_all(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
  if (orders) state_.store(kOpen);
}

void Gate::remove(Inside* inside) {
  const std::lock_guard hold(mutex_);
  std::erase(all_, inside);
}

void Gate::wait(Inside& inside) {
  for (;;) {
    inside.exchange(1);
    const std::uint8_t state = state_.load();
    if (state != kClosed) return;
    inside.store(0);
    const std::lock_guard until_open(mutex_);
  }
}

Gate::Closed::Closed() : before_(state_.exchange(kClosed)) {
  if (before_ == kOpen) order_all(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  for (const Inside* inside : all_) {
    while (inside->load() != 0) std::this_thread::yield();
  }
}

Gate::Closed::~Closed() { state_.store(before_); }

}  // namespace tessera::runtime::journal
