// A program of its own, with MPI of its own, that calls two fragmented programs: mpirun -n 3 ./solver
#include <mpi.h>

#include <cstdio>
#include <tessera/library.hpp>
#include <tessera/mpi.hpp>
#include <vector>

TESSERA_PROGRAM(smooth);
TESSERA_PROGRAM(broken);

int main(int argc, char **argv) {
  int provided = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  tessera::Options options;
  options.threads = 1;
  options.communicator = tessera::communicator(MPI_COMM_WORLD);
  options.results_everywhere = true;

  // The result of one run is the argument of the next.
  std::vector<double> values(1000, 0.0);
  values[500] = 81;
  for (int round = 0; round < 3; round++) {
    tessera::Results r = tessera::run(smooth(), {values, 4, 0.0}, options);
    values.assign(r["smooth"].span<double>().begin(), r["smooth"].span<double>().end());
    if (rank == 0) std::printf("round %d: largest %g\n", round, r["largest"].get<double>());
  }

  try {
    tessera::run(broken(), {0}, options);
  } catch (const tessera::RunError &e) {  // on each rank
    if (rank == 0) std::printf("exit code %d: %s", e.exit_code(), e.what());
  }

  // Without a communicator each rank runs by itself, here with two ranks that are threads.
  options.communicator.reset();
  options.ranks = 2;
  tessera::Results alone = tessera::run(broken(), {4}, options);
  double mine = alone["x"].get<double>(), sum = 0;
  MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("sum %g\n", sum);
  MPI_Finalize();
}
