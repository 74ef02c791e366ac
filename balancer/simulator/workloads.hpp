// Workloads for tests and experiments.
#pragma once

#include "balancer/simulator/cluster.hpp"

namespace tessera::balancer::simulator {

// The thesis's block matrix multiplication: 200 initialisations of 2.6 ms born on rank 0, each pair
// of which makes multiplications of 60 ms with 2 MB of inputs ready, 1000 in all.
Workload matrix_multiplication();
// The thesis's row reduction: fragments of 1 ms with 2.4 MB of inputs, row after row.
Workload row_reduction(std::int32_t rows = 50);
// n fragments of one group, all born on rank 0 at once.
Workload heap(std::int64_t n, Time weight, std::int64_t bytes = 0);
// Fragments born in bursts on changing ranks.
Workload bursts(std::int32_t ranks, std::uint64_t seed);
// Weights that differ by orders of magnitude inside one group.
Workload heavy_tailed(std::int64_t n, std::uint64_t seed);
// Every fragment makes up to three more, `n` in all; born on rank 0.
Workload spawning(std::int64_t n, std::uint64_t seed);
// A loop whose iterations (a range group) each make one fragment.
Workload ranges(std::int64_t n, Time weight);

}  // namespace tessera::balancer::simulator
