#include "runtime/transport/process_environment.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "runtime/transport/bring_out_text.hpp"
#include "runtime/transport/last_call.hpp"
#include "runtime/transport/launcher.hpp"
#include "runtime/transport/open_mpi.hpp"

namespace tessera::runtime {
namespace {

// The process that adopts orphans, and the children that it had before, which are none of the run's: a script may have
// started something and become this program.
pid_t adopter = 0;
std::array<pid_t, 64> earlier_children{};

// f(child) for each child of this process. Each thread has a list of those that it has started.
template <class F>
void for_children(F f) {
  alignas(dirent64) std::array<char, 4096> entries;
  const int tasks = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (tasks < 0) return;
  for (ssize_t size; (size = getdents64(tasks, entries.data(), entries.size())) > 0;) {
    for (ssize_t at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      at += entry->d_reclen;
      char path[sizeof entry->d_name + sizeof "/children"], text[1024];
      std::snprintf(path, sizeof path, "%s/children", entry->d_name);
      const int file = openat(tasks, path, O_RDONLY | O_CLOEXEC);
      const ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
      if (file >= 0) close(file);
      text[length > 0 ? length : 0] = '\0';
      for (char* next = text; *next != '\0';) {
        char* const from = next;
        const auto child = static_cast<pid_t>(std::strtol(from, &next, 10));
        while (*next == ' ') ++next;
        if (next == from) break;
        if (child > 0) f(child);
      }
    }
  }
  close(tasks);
}

// mpirun starts more than this many ranks of a host from helper threads that end soon, and the
// kernel takes the end of the thread that forked for the end of the parent.
constexpr int kForkedByMainThread = 32;

}  // namespace

void prepare_process_for_mpi() {
  set_up_open_mpi();
  const std::int32_t ranks = launcher_local_size();
  if (ranks > 0 && ranks < kForkedByMainThread) prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void adopt_orphans() {
  earlier_children = {};
  std::size_t n = 0;
  for_children([&](pid_t child) {
    if (n < earlier_children.size()) earlier_children[n++] = child;
  });
  adopter = getpid();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

// Only what a signal's handler may call. What is killed may leave children of its own, which come to us next.
void end_children() {
  constexpr int kTries = 1000;  // of a millisecond
  if (getpid() != adopter) return;
  for (int tries = 0; tries < kTries; ++tries) {
    bool any = false;
    for_children([&](pid_t child) {
      if (std::find(earlier_children.begin(), earlier_children.end(), child) != earlier_children.end()) return;
      any = true;
      kill(child, SIGKILL);
      waitpid(child, nullptr, WNOHANG);
    });
    if (!any) return;
    usleep(1000);
  }
}

void (*tell_exit)(int code) = nullptr;
void (*tell_over)() = nullptr;

void end_process(int code) {
  if (tell_exit != nullptr) tell_exit(code);
  text::bring_out_text();
  last_call(code);
  end_children();
  for (;;) syscall(SYS_exit_group, code);
}

}  // namespace tessera::runtime
