// How many ranks `tessera run -n auto` starts: as many as a host file or the batch system has room for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace tessera::cli {

struct Allocation {
  std::int32_t ranks = 1;
  std::string from;  // who says so, for messages; empty: nobody, so it is this host
};

// slots_of is the number of ranks that a host file of Open MPI has room for: `slots=N` of each line, 1 where that is
// missing. Throws Failure (usage) that names the line.
std::int32_t slots_of(const std::filesystem::path& hostfile);

// allocation asks, in this order, the host file (if it has a name), Slurm, PBS; outside of all that it is one rank,
// which has all cores of this host. In a Slurm job that says nothing of tasks it is one rank on each node.
Allocation allocation(const std::filesystem::path& hostfile);

}  // namespace tessera::cli
