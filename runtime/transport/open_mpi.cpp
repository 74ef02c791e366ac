#include "runtime/transport/open_mpi.hpp"

#include <dlfcn.h>
#include <mpi.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdlib>

#include "runtime/transport/launcher.hpp"

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

}  // namespace

bool built_with_open_mpi() {
#ifdef OPEN_MPI
  return true;
#else
  return false;
#endif
}

void set_up_open_mpi() {
  // The runtime reports crashes itself, with the fragment and its source line.
  set_default("OMPI_MCA_opal_signal", "");
  // Not having InfiniBand is no news.
  set_default("OMPI_MCA_btl_base_warn_component_unused", "0");
  // Starting and ending are collective and Open MPI spins in them: with more ranks than cores that
  // takes minutes unless the spinning ones yield. In between: yield_in_mpi(false).
  set_default("OMPI_MCA_mpi_yield_when_idle", "1");
  if (!may_read_process_memory()) set_default("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
  // Ranks of one host talk through its memory: no port that other hosts could reach.
  if (launcher_local_size() > 0 && launcher_local_size() == launcher_size()) set_default("OMPI_MCA_btl", "^tcp,ofi");
}

bool yield_in_mpi(bool yield) {
  // Open MPI reads its parameter once; this is the function it then calls (since 1.x, still in 5).
  // Another MPI does not have it and needs nothing.
  using SetYield = bool (*)(bool);
  static const auto set = reinterpret_cast<SetYield>(dlsym(RTLD_DEFAULT, "opal_progress_set_yield_when_idle"));
  return set != nullptr && set(yield);
}

bool reads_as_open_mpi(std::string_view process) {
  return process == "mpirun" || process == "mpiexec" || process == "orterun" || process == "orted";
}

void have_mpirun_wait_for_ranks() {
  if (built_with_open_mpi()) set_default("OMPI_MCA_odls_base_sigkill_timeout", "2");
}

bool mpirun_tells_ranks_apart() {
  for (const char* name : {"OMPI_MCA_orte_tag_output", "OMPI_MCA_orte_timestamp_output",
                           "OMPI_MCA_orte_output_filename", "OMPI_MCA_orte_xterm"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

}  // namespace tessera::runtime
