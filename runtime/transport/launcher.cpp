#include "runtime/transport/launcher.hpp"

#include <chrono>
#include <cstdlib>
#include <initializer_list>
#include <thread>

#include "runtime/transport/transport.hpp"

namespace tessera::runtime {
namespace {

constexpr std::chrono::seconds kPatience{10};

// The first of these that is set: Open MPI's mpirun, MPICH's and its kin, MVAPICH's, srun. The first one comes before
// srun, which starts mpirun's daemons.
std::int32_t number_of(std::initializer_list<const char*> variables) {
  for (const char* name : variables) {
    if (const char* text = std::getenv(name)) return std::atoi(text);
  }
  return 0;
}

}  // namespace

bool started_by_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  // The number of tasks of the *step*: a batch script (one process, no step of srun's) has
  // SLURM_NTASKS as well and is not a rank.
  const char* tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  return tasks != nullptr && std::atoi(tasks) > 1;
}

std::int32_t launcher_rank() {
  if (!started_by_launcher()) return 0;
  return number_of({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"});
}

std::int32_t launcher_size() {
  if (!started_by_launcher()) return 0;
  return number_of({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"});
}

std::int32_t launcher_local_rank() {
  if (!started_by_launcher()) return 0;
  return number_of({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"});
}

std::int32_t launcher_local_size() {
  if (!started_by_launcher()) return 0;
  return number_of({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE"});
}

bool started_by_mpirun() {
  return std::getenv("OMPI_UNIVERSE_SIZE") != nullptr || std::getenv("MPI_LOCALNRANKS") != nullptr;
}

bool started_by_srun() {
  return started_by_launcher() && std::getenv("SLURM_STEP_ID") != nullptr &&
         std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr && std::getenv("MV2_COMM_WORLD_SIZE") == nullptr;
}

void let_rank_0_speak() {
  if (launcher_rank() != 0) std::this_thread::sleep_for(kPatience);
}

}  // namespace tessera::runtime
