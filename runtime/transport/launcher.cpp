// How to know that mpirun or srun started this process. No MPI needed to find out.
#include <cstdlib>

#include "runtime/transport/transport.hpp"

namespace tessera::runtime {

bool started_by_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  // The number of tasks of the *step*: a batch script (one process, no step of srun's) has
  // SLURM_NTASKS as well and is not a rank.
  const char* tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  return tasks != nullptr && std::atoi(tasks) > 1;
}

}  // namespace tessera::runtime
