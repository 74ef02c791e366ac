// Run under mpirun: all scenarios over MPI. Exits with 1 when one failed.
//   transport_mpi_conformance            all scenarios, some seeds
//   transport_mpi_conformance abort      rank 0 aborts with 23 while the others sleep in user code
//   transport_mpi_conformance crash      the last rank dereferences null
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "phased.hpp"
#include "scenarios.hpp"
#include "test_values.hpp"

using namespace tessera;
using namespace tessera::runtime;

namespace {

int run_scenarios(Transport& inner) {
  Phased t(inner);
  for (const Scenario& scenario : scenarios()) {
    const bool seeded = std::strcmp(scenario.name, "storm") == 0;
    for (std::uint64_t seed = 1; seed <= (seeded ? 5 : 1); ++seed) {
      const auto begin = Clock::now();
      try {
        scenario.run(t, seed);
      } catch (const std::exception& e) {
        std::fprintf(stderr, "%s, seed %lu, rank %d of %d: %s\n", scenario.name, static_cast<unsigned long>(seed),
                     index(t.rank()), t.size(), e.what());
        t.abort(1);
      }
      if (index(t.rank()) == 0) {
        const std::chrono::duration<double> took = Clock::now() - begin;
        std::printf("%-18s %.3f s\n", scenario.name, took.count());
      }
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (!started_by_launcher()) std::fprintf(stderr, "not started by mpirun: one rank only\n");
  auto t = make_mpi_transport();
  if (t->host_size() < 1 || t->host_rank() >= t->host_size()) return 1;
  const char* what = argc > 1 ? argv[1] : "";
  if (std::strcmp(what, "abort") == 0) {
    if (index(t->rank()) == 0) {
      std::printf("partial output");
      t->abort(23);
    }
    while (true) pause();
  }
  if (std::strcmp(what, "crash") == 0) {
    if (index(t->rank()) == t->size() - 1) {
      static volatile int* nowhere = nullptr;
      *nowhere = 1;
    }
    while (true) pause();
  }
  const int code = run_scenarios(*t);
  t.reset();
  if (live_values != 0) {
    std::fprintf(stderr, "%ld values were not freed\n", static_cast<long>(live_values));
    return 1;
  }
  return code;
}
