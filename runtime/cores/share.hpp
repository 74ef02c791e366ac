// How the ranks of a host share its processors: a pure function of what each of them may use.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/cores/allowance.hpp"

namespace tessera::cores {

struct HostRank {
  Allowance allowed;
  bool works = true;  // from the start; spares and coordinators do not
};

struct Share {
  std::int32_t threads = 1;    // for this rank's workers
  bool core_for_each = false;  // each worker of the host has a core
  bool spare_core = false;     // ... and there is one more
};

// share_host says what the rank number `self` of these has. Each core in its mask is divided among the working ranks
// that may use it, each limit among those that have it together, and the least of these counts, rounded down. A rank
// that does not work yet would take the place of one that does. `threads` is what each rank was told to have; 0: as
// many as it has cores, and at least one.
Share share_host(const std::vector<HostRank>& host, std::size_t self, std::int32_t threads);

// Whether there is a core for each of these ranks.
bool core_for_each_rank(std::vector<HostRank> host);

}  // namespace tessera::cores
