#include "runtime/transport/process_environment.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "runtime/transport/bring_out_text.hpp"
#include "runtime/transport/last_call.hpp"

namespace tessera::runtime {
namespace {

void set_default(const char* name, const char* value) { setenv(name, value, 0); }

// Some containers forbid reading another process's memory, which Open MPI finds out only in the
// middle of the first large message.
bool may_read_process_memory() {
  char from = 1;
  char to = 0;
  const iovec local{&to, 1};
  const iovec remote{&from, 1};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1;
}

bool all_on_this_host() {
  const char* local = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  const char* all = std::getenv("OMPI_COMM_WORLD_SIZE");
  return local != nullptr && all != nullptr && std::string_view(local) == all;
}

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
  // The runtime reports crashes itself, with the fragment and its source line.
  set_default("OMPI_MCA_opal_signal", "");
  // Not having InfiniBand is no news.
  set_default("OMPI_MCA_btl_base_warn_component_unused", "0");
  // Starting and ending are collective and Open MPI spins in them: with more ranks than cores that
  // takes minutes unless the spinning ones yield. In between: yield_in_mpi(false).
  set_default("OMPI_MCA_mpi_yield_when_idle", "1");
  if (!may_read_process_memory()) set_default("OMPI_MCA_btl_vader_single_copy_mechanism", "none");

  // Ranks of one host talk through its memory: no port that other hosts could reach.
  if (all_on_this_host()) set_default("OMPI_MCA_btl", "^tcp,ofi");

  const char* local_ranks = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (local_ranks != nullptr && std::atoi(local_ranks) < kForkedByMainThread) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
  }
}

bool yield_in_mpi(bool yield) {
  // Open MPI reads its parameter once; this is the function it then calls (since 1.x, still in 5).
  // Another MPI does not have it and needs nothing.
  using SetYield = bool (*)(bool);
  static const auto set = reinterpret_cast<SetYield>(dlsym(RTLD_DEFAULT, "opal_progress_set_yield_when_idle"));
  return set != nullptr && set(yield);
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

void end_process(int code) {
  text::bring_out_text();
  last_call(code);
  end_children();
  for (;;) syscall(SYS_exit_group, code);
}

}  // namespace tessera::runtime
