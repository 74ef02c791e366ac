// What only Open MPI has, by the names of its version 4: the transport itself is MPI's standard, and launcher.hpp what
// any launcher says.
#pragma once

#include <string_view>

namespace tessera::runtime {

// Whether the runtime was built with it; else it was with MPICH, or one of its kin.
bool built_with_open_mpi();

// Before MPI_Init: its parameters as they are right here, unless the user has set them.
void set_up_open_mpi();

// Whether Open MPI gives up the processor (sched_yield) each time it is asked for progress and has
// none. Right while it spins inside MPI_Init and MPI_Finalize; wrong in progress(), which looks once
// and then sleeps: yielding to a busy worker would delay it by that worker's whole time slice. Returns what it was.
bool yield_in_mpi(bool yield);

// Does a process of this name read what ranks print as Open MPI's mpirun does (whole_lines.cpp)?
bool reads_as_open_mpi(std::string_view process);

// Ranks have what they want to write when mpirun ends them: it is to give them two seconds, unless the user has said
// how many. One is its default. It waits for all of them, also for ranks that have ended sooner.
void have_mpirun_wait_for_ranks();

// mpirun writes something before each line, or files per rank: it has to know whose a line is.
bool mpirun_tells_ranks_apart();

}  // namespace tessera::runtime
