// Doorbell: how a thread of one process wakes a sleeping thread of another on the same host, without
// a system call when nobody sleeps. It is one line in shared memory.
//
// A word of it holds a count of rings (upper 30 bits), in bit 0 "somebody sleeps", and in bit 1 "somebody polls".
//   sleeper: c = count(); look for work; nothing: sleep(c, until)
//   ringer:  make the work visible; ring()
// Invariant: a sleeper that looked after reading c sleeps only while the count is c. sleep() sets bit
// 0 by compare-exchange against the very count c, then FUTEX_WAITs for exactly that word: a ring in
// between changes the word, and the kernel refuses to sleep. ring() adds to the count first; if a bit
// was set before, it clears both and wakes all. Several sleepers may share a bell: only ringers clear
// the bits, so none is forgotten. A sleeper that timed out leaves its bit set, which costs the next
// ringer one system call for nothing.
// Who waits for something else, too, as for sockets (SocketWatch), polls a socket of its own meanwhile, of which the
// bell has the name (wire): a ringer that finds bit 1 set sends a byte there, and what was sent is kept for a poller
// that has set the bit and does not poll yet.
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
  std::uint32_t count() const { return word_.load(std::memory_order_seq_cst) & ~kBits; }

  void ring() {
    if (const std::uint32_t before = word_.fetch_add(kOne, std::memory_order_seq_cst); (before & kBits) != 0)
      wake_all(before);
  }

  // sleep blocks in the kernel until the count differs from `seen` or `until` has passed. May also
  // return for no reason.
  void sleep(std::uint32_t seen, std::chrono::steady_clock::time_point until);

  // wire makes a socket that takes a byte of each ring that finds a poller: a descriptor to poll and to read, the
  // caller's; -1 when the system has none. Once, before anybody polls.
  int wire();
  // poll announces a poller. False: the count is not `seen` any more.
  bool poll(std::uint32_t seen) { return announce(seen, kPolls); }

 private:
  static constexpr std::uint32_t kSleeps = 1, kPolls = 2, kBits = kSleeps | kPolls;
  static constexpr std::uint32_t kOne = 4;

  bool announce(std::uint32_t seen, std::uint32_t bit);
  void wake_all(std::uint32_t before);

  std::atomic<std::uint32_t> word_{0};
  std::atomic<std::uint64_t> wired_{0};  // the name of the socket
};
static_assert(sizeof(Doorbell) == 64);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free,
              "shared between processes");

// The kernel rounds timed sleeps up by 50 us by default; call in a thread whose short sleeps count.
// Cheap to call often.
void sharpen_timers_of_this_thread();

}  // namespace tessera::runtime
