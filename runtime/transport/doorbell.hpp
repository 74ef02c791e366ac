// Doorbell: how a thread of one process wakes a sleeping thread of another on the same host, without
// a system call when nobody sleeps. It is one word in shared memory on its own cache line.
//
// The word holds a count of rings (upper 31 bits) and in bit 0 "somebody sleeps".
//   sleeper: c = count(); look for work; nothing: sleep(c, until)
//   ringer:  make the work visible; ring()
// Invariant: a sleeper that looked after reading c sleeps only while the count is c. sleep() sets bit
// 0 by compare-exchange against the very count c, then FUTEX_WAITs for exactly that word: a ring in
// between changes the word, and the kernel refuses to sleep. ring() adds to the count first; if bit
// 0 was set before, it clears it and wakes all. Several sleepers may share a bell: only ringers clear
// the bit, so none is forgotten. A sleeper that timed out leaves the bit set, which costs the next
// ringer one system call for nothing.
//
// Example: Doorbell& mine = bells[host_rank]; auto c = mine.count(); ...; mine.sleep(c, deadline);
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tessera::runtime {

class alignas(64) Doorbell {
 public:
  // count before looking for work; equal counts mean no ring in between.
  std::uint32_t count() const { return word_.load(std::memory_order_seq_cst) & ~kSleeps; }

  void ring() {
    if ((word_.fetch_add(kOne, std::memory_order_seq_cst) & kSleeps) != 0) wake_all();
  }

  // sleep blocks in the kernel until the count differs from `seen` or `until` has passed. May also
  // return for no reason.
  void sleep(std::uint32_t seen, std::chrono::steady_clock::time_point until);

 private:
  static constexpr std::uint32_t kSleeps = 1;
  static constexpr std::uint32_t kOne = 2;

  void wake_all();

  std::atomic<std::uint32_t> word_{0};
};
static_assert(sizeof(Doorbell) == 64);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "shared between processes");

// The kernel rounds timed sleeps up by 50 us by default; call in a thread whose short sleeps count.
// Cheap to call often.
void sharpen_timers_of_this_thread();

}  // namespace tessera::runtime
