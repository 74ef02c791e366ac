#include "cli/launched.hpp"

#include <chrono>
#include <cstdlib>
#include <initializer_list>
#include <thread>

#include "runtime/transport/transport.hpp"

namespace tessera::cli {
namespace {

constexpr std::chrono::seconds kTimeForRankZero{10};

std::int32_t number_of(std::initializer_list<const char*> variables) {
  if (!runtime::started_by_launcher()) return 0;
  for (const char* name : variables) {
    if (const char* text = std::getenv(name)) return std::atoi(text);
  }
  return 0;
}

}  // namespace

std::int32_t launcher_rank() {
  return number_of({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"});
}

bool launcher_follows() {
  return number_of({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}) != 0;
}

void let_rank_0_speak() {
  if (launcher_rank() != 0) std::this_thread::sleep_for(kTimeForRankZero);
}

}  // namespace tessera::cli
