// How many ranks `tessera run -n auto` starts: as many as a host file or the batch system has room for.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::cli {

struct Allocation {
  std::int32_t ranks = 1;
  std::string from;  // who says so, for messages; empty: nobody, so it is this host
};

// allocation asks, in this order, Slurm and PBS; outside of all that it is one rank,
// which has all cores of this host. In a Slurm job that says nothing of tasks it is one rank on each node.
Allocation allocation();

}  // namespace tessera::cli
