// What mpirun or srun says to a process that it starts. No MPI needed to find out.
#pragma once

#include <cstdint>

namespace tessera::runtime {

// launcher_rank: this process's number among those that were started together; 0 when it was started alone.
std::int32_t launcher_rank();
// launcher_size: how many were started together; 0 where the launcher does not say.
std::int32_t launcher_size();
// launcher_local_rank: among those on this host.
std::int32_t launcher_local_rank();

// launcher_local_size: how many of them are on this host; 0 where the launcher does not say.
std::int32_t launcher_local_size();

// started_by_mpirun: by Open MPI's or MPICH's.
bool started_by_mpirun();
// started_by_srun: without an mpirun between. Ask before MPI is initialised, which sets variables of its own.
bool started_by_srun();

// let_rank_0_speak is called before a message that every rank would print. On other ranks it waits
// to be ended by the launcher, which rank 0's exit code makes it do; it returns after some seconds,
// for then the trouble is this rank's alone.
void let_rank_0_speak();

}  // namespace tessera::runtime
