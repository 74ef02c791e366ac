#include "runtime/report/descriptors.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <barrier>
#include <bitset>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "runtime/report/ending.hpp"
#include "runtime/run.hpp"

namespace tessera::runtime {
namespace {

constexpr unsigned kMostGuarded = 1024;  // higher numbers are not guarded
using Set = std::bitset<kMostGuarded>;

// What a number stands for. One that another has closed meanwhile, and a kernel has opened anew, is the kernel's.
struct Guarded {
  std::atomic<bool> on{false};
  dev_t device = 0;
  ino_t node = 0;

  bool is(const struct stat& now) const { return now.st_dev == device && now.st_ino == node; }
};

Set open_before;
std::array<Guarded, kMostGuarded> guarded;

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

// MPI and the run close what they like in threads of their own.
bool of_kernel() { return (in_fragment() || thread_starter() != nullptr) && program_running() != nullptr; }

[[noreturn]] void end_for(const std::string& what) {
  end_saying("the kernel " + what, "tessera: error: a thread that a kernel has started " + what, kExitProgram);
}

void check_closing(unsigned first, unsigned last) {
  if (!of_kernel()) return;
  for (unsigned fd = first; fd <= last && fd < kMostGuarded; ++fd) {
    struct stat now {};
    if (!guarded[fd].on.load(std::memory_order_acquire) || fstat(static_cast<int>(fd), &now) != 0 ||
        !guarded[fd].is(now)) {
      continue;
    }
    if (fd == STDOUT_FILENO) {
      end_for(
          "closes file descriptor 1, which is stdout: what the program prints would be lost, or get into what is opened"
          " next; dup2() gives stdout another file [T414]");
    }
    if (fd == STDERR_FILENO) {
      end_for(
          "closes file descriptor 2, which is stderr: what goes wrong could not be told from then on; dup2() gives it"
          " another file [T414]");
    }
    end_for("closes file descriptor " + std::to_string(fd) +
            ", which it has not opened: the run needs it; close only what you have opened [T414]");
  }
}

// dup2() onto stdout or stderr closes it, too, but gives it another file at once, which is the kernel's to close.
void check_replacing(int to) {
  if (to >= 0 && to != STDOUT_FILENO && to != STDERR_FILENO)
    check_closing(static_cast<unsigned>(to), static_cast<unsigned>(to));
}

using Fclose = int (*)(std::FILE*);

int close_range_now(unsigned first, unsigned last, int flags) {
  return static_cast<int>(syscall(SYS_close_range, first, last, flags));
}

}  // namespace

namespace {

void guard_all_new() noexcept {
  Set added = open_now() & ~open_before;
  added.set(STDOUT_FILENO);
  added.set(STDERR_FILENO);
  for (unsigned fd = 0; fd < kMostGuarded; ++fd) {
    struct stat now {};
    if (!added[fd] || fstat(static_cast<int>(fd), &now) != 0) continue;
    guarded[fd].device = now.st_dev;
    guarded[fd].node = now.st_ino;
    guarded[fd].on.store(true, std::memory_order_release);
  }
}

std::optional<std::barrier<void (*)() noexcept>> all_ranks;

}  // namespace

void note_open_descriptors() { open_before = open_now(); }
void guard_for_ranks(std::size_t ranks) { all_ranks.emplace(static_cast<std::ptrdiff_t>(ranks), guard_all_new); }
void guard_new_descriptors() { all_ranks->arrive_and_wait(); }
void guard_no_descriptors() {
  for (Guarded& g : guarded) g.on.store(false, std::memory_order_relaxed);
}

}  // namespace tessera::runtime

extern "C" {

int close(int fd) {
  if (fd >= 0) tessera::runtime::check_closing(static_cast<unsigned>(fd), static_cast<unsigned>(fd));
  return static_cast<int>(syscall(SYS_close, fd));
}
int dup2(int from, int to) noexcept {
  if (from != to) tessera::runtime::check_replacing(to);
  if (from == to) return fcntl(from, F_GETFD) < 0 ? -1 : to;
  return static_cast<int>(syscall(SYS_dup3, from, to, 0));  // dup2 is no call of its own on every processor
}
int dup3(int from, int to, int flags) noexcept {
  tessera::runtime::check_replacing(to);
  return static_cast<int>(syscall(SYS_dup3, from, to, flags));
}
int close_range(unsigned first, unsigned last, int flags) noexcept {
  if ((flags & CLOSE_RANGE_CLOEXEC) == 0) tessera::runtime::check_closing(first, last);
  return tessera::runtime::close_range_now(first, last, flags);
}
int fclose(std::FILE* file) {
  static const auto next = reinterpret_cast<tessera::runtime::Fclose>(dlsym(RTLD_NEXT, "fclose"));
  if (file != nullptr && tessera::runtime::of_kernel()) {
    if (file == stdout)
      tessera::runtime::end_for("closes stdout: nothing could be printed from then on; fflush() has it written [T414]");
    if (file == stderr)
      tessera::runtime::end_for(
          "closes stderr: what goes wrong could not be told from then on; freopen() gives it another file [T414]");
  }
  return next(file);
}
void closefrom(int first) noexcept {
  tessera::runtime::check_closing(static_cast<unsigned>(first < 0 ? 0 : first), UINT_MAX);
  (void)tessera::runtime::close_range_now(static_cast<unsigned>(first < 0 ? 0 : first), UINT_MAX, 0);
}
}
