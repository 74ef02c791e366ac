#include "runtime/transport/doorbell.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <utility>

namespace tessera::runtime {
namespace {

// Of no file: it is gone with the socket.
std::pair<sockaddr_un, socklen_t> address(std::uint64_t name) {
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  const int n = std::snprintf(at.sun_path + 1, sizeof at.sun_path - 1, "tessera-bell-%016llx",
                              static_cast<unsigned long long>(name));
  return {at, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(n))};
}

int open_socket() { return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

}  // namespace

bool Doorbell::announce(std::uint32_t seen, std::uint32_t bit) {
  std::uint32_t word = word_.load(std::memory_order_seq_cst);
  do {
    if ((word & ~kBits) != seen) return false;
  } while (!word_.compare_exchange_weak(word, word | bit, std::memory_order_seq_cst));
  return true;
}

void Doorbell::wake_all(std::uint32_t before) {
  word_.fetch_and(~kBits, std::memory_order_seq_cst);
  if ((before & kSleeps) != 0) syscall(SYS_futex, &word_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  if ((before & kPolls) != 0) {
    static const int from = open_socket();
    // That it is full is as good: there is something to read.
    const auto [at, size] = address(wired_.load(std::memory_order_relaxed));
    sendto(from, "", 1, MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&at), size);
  }
}

void Doorbell::sleep(std::uint32_t seen, std::chrono::steady_clock::time_point until) {
  if (!announce(seen, kSleeps)) return;
  // steady_clock is CLOCK_MONOTONIC, which is what FUTEX_WAIT_BITSET measures absolute times in.
  using std::chrono::duration_cast;
  const auto left = std::max(until.time_since_epoch(), std::chrono::steady_clock::duration::zero());
  const auto seconds = duration_cast<std::chrono::seconds>(left);
  timespec deadline{};
  deadline.tv_sec = seconds.count();
  deadline.tv_nsec = duration_cast<std::chrono::nanoseconds>(left - seconds).count();
  // Whether somebody polls besides may change meanwhile: the kernel refuses then, and this returns for no reason.
  const std::uint32_t polls = word_.load(std::memory_order_seq_cst) & kPolls;
  syscall(SYS_futex, &word_, FUTEX_WAIT_BITSET, seen | kSleeps | polls, &deadline, nullptr, FUTEX_BITSET_MATCH_ANY);
}

int Doorbell::wire() {
  std::uint64_t name = 0;
  if (getrandom(&name, sizeof name, 0) != static_cast<ssize_t>(sizeof name)) return -1;
  const int made = open_socket();
  if (made < 0) return -1;
  const auto [at, size] = address(name);
  if (bind(made, reinterpret_cast<const sockaddr*>(&at), size) != 0) {
    close(made);
    return -1;
  }
  wired_.store(name, std::memory_order_seq_cst);
  return made;
}

void sharpen_timers_of_this_thread() {
  static thread_local bool done = false;
  if (done) return;
  done = true;
  prctl(PR_SET_TIMERSLACK, 1000UL);  // ns
}

}  // namespace tessera::runtime
