#include "runtime/transport/process_environment.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

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

void yield_in_mpi(bool yield) {
  // Open MPI reads its parameter once; this is the function it then calls (since 1.x, still in 5).
  // Another MPI does not have it and needs nothing.
  using SetYield = bool (*)(bool);
  static const auto set = reinterpret_cast<SetYield>(
      dlsym(RTLD_DEFAULT, "opal_progress_set_yield_when_idle"));
  if (set != nullptr) set(yield);
}

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

// Only what a signal's handler may call.
void end_children() {
  constexpr int kTries = 100;  // the orphans of one that is killed come next
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/children", static_cast<int>(getpid()));
  for (int tries = 0; tries < kTries; ++tries) {
    char text[512];
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    if (size <= 0) return;
    text[size] = '\0';
    for (char* at = text; *at != '\0';) {
      const auto child = static_cast<pid_t>(std::strtol(at, &at, 10));
      while (*at == ' ') ++at;
      if (child <= 0) break;
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
}

void end_process(int code) {
  end_children();
  for (;;) syscall(SYS_exit_group, code);
}

}  // namespace tessera::runtime
