// How each program is run: ranks, threads, policies, orders of deliveries.
#pragma once

#include <string>
#include <vector>

#include "runtime/run.hpp"

namespace tessera::differential {

struct Configuration {
  std::string name;  // the options of `tessera run` that give the same; its kernels do not rest
  runtime::RunOptions options;
  int longest_rest_us = 0;  // of kernels (tests/reference/kernels.hpp)
  int most_rests = 40;      // then they rest no more; long runs would take seconds
};

// configurations of the program with this seed: 1, 2, 4 and 7 ranks, several numbers of threads,
// every policy of the registry and the faithful mode of those that have one, one that moves all it can
// (balancer/restless), deliveries reordered.
std::vector<Configuration> configurations(std::uint64_t seed);

}  // namespace tessera::differential
