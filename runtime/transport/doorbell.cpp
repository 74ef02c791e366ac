#include "runtime/transport/doorbell.hpp"

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>

namespace tessera::runtime {

void Doorbell::wake_all() {
  word_.fetch_and(~kSleeps, std::memory_order_seq_cst);
  syscall(SYS_futex, &word_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Doorbell::sleep(std::uint32_t seen, std::chrono::steady_clock::time_point until) {
  std::uint32_t word = word_.load(std::memory_order_seq_cst);
  do {
    if ((word & ~kSleeps) != seen) return;
  } while (!word_.compare_exchange_weak(word, seen | kSleeps, std::memory_order_seq_cst));

  // steady_clock is CLOCK_MONOTONIC, which is what FUTEX_WAIT_BITSET measures absolute times in.
  using std::chrono::duration_cast;
  const auto left = std::max(until.time_since_epoch(), std::chrono::steady_clock::duration::zero());
  const auto seconds = duration_cast<std::chrono::seconds>(left);
  timespec deadline{};
  deadline.tv_sec = seconds.count();
  deadline.tv_nsec = duration_cast<std::chrono::nanoseconds>(left - seconds).count();
  syscall(SYS_futex, &word_, FUTEX_WAIT_BITSET, seen | kSleeps, &deadline, nullptr, FUTEX_BITSET_MATCH_ANY);
}

void sharpen_timers_of_this_thread() {
  static thread_local bool done = false;
  if (done) return;
  done = true;
  prctl(PR_SET_TIMERSLACK, 1000UL);  // ns
}

}  // namespace tessera::runtime
