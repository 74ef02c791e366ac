#include "runtime/report/descriptors.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bitset>
#include <climits>
#include <cstdlib>
#include <string>

#include "runtime/report/ending.hpp"
#include "runtime/run.hpp"

namespace tessera::runtime {
namespace {

constexpr unsigned kMostGuarded = 1024;  // higher numbers are not guarded
using Set = std::bitset<kMostGuarded>;

Set open_before;
std::array<std::atomic<bool>, kMostGuarded> guarded;

Set open_now() {
  Set found;
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) return found;
  const int own = dirfd(folder);
  while (const dirent* entry = readdir(folder)) {
    const int fd = std::atoi(entry->d_name);
    if (entry->d_name[0] != '.' && fd != own && fd < static_cast<int>(kMostGuarded))
      found.set(static_cast<std::size_t>(fd));
  }
  closedir(folder);
  return found;
}

// MPI closes what it likes in threads of its own.
void check_closing(unsigned first, unsigned last) {
  if (!in_fragment() || program_running() == nullptr) return;
  for (unsigned fd = first; fd <= last && fd < kMostGuarded; ++fd) {
    if (!guarded[fd].load(std::memory_order_relaxed)) continue;
    end_saying("the kernel closes file descriptor " + std::to_string(fd) +
                   ", which it has not opened: MPI needs it; close only what you have opened [T414]",
               "", kExitProgram);
  }
}

int close_range_now(unsigned first, unsigned last, int flags) {
  return static_cast<int>(syscall(SYS_close_range, first, last, flags));
}

}  // namespace

void note_open_descriptors() { open_before = open_now(); }
void guard_new_descriptors() {
  const Set added = open_now() & ~open_before;
  for (unsigned fd = 0; fd < kMostGuarded; ++fd) guarded[fd].store(added[fd], std::memory_order_relaxed);
}
void guard_no_descriptors() {
  for (auto& g : guarded) g.store(false, std::memory_order_relaxed);
}

}  // namespace tessera::runtime

extern "C" {

int close(int fd) {
  if (fd >= 0) tessera::runtime::check_closing(static_cast<unsigned>(fd), static_cast<unsigned>(fd));
  return static_cast<int>(syscall(SYS_close, fd));
}
int dup2(int from, int to) noexcept {
  if (to >= 0 && from != to) tessera::runtime::check_closing(static_cast<unsigned>(to), static_cast<unsigned>(to));
  if (from == to) return fcntl(from, F_GETFD) < 0 ? -1 : to;
  return static_cast<int>(syscall(SYS_dup3, from, to, 0));  // dup2 is no call of its own on every processor
}
int dup3(int from, int to, int flags) noexcept {
  if (to >= 0) tessera::runtime::check_closing(static_cast<unsigned>(to), static_cast<unsigned>(to));
  return static_cast<int>(syscall(SYS_dup3, from, to, flags));
}
int close_range(unsigned first, unsigned last, int flags) noexcept {
  if ((flags & CLOSE_RANGE_CLOEXEC) == 0) tessera::runtime::check_closing(first, last);
  return tessera::runtime::close_range_now(first, last, flags);
}
void closefrom(int first) noexcept {
  tessera::runtime::check_closing(static_cast<unsigned>(first < 0 ? 0 : first), UINT_MAX);
  (void)tessera::runtime::close_range_now(static_cast<unsigned>(first < 0 ? 0 : first), UINT_MAX, 0);
}
}
