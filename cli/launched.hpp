// Commands that mpirun or srun starts side by side (`mpirun -n 4 luna prog.fa`): one process of
// each host compiles, the others wait for its result, and one of all says what is wrong.
#pragma once

#include <cstdint>

namespace tessera::cli {

// launcher_rank returns this process's number among those that were started together; 0 when it was
// started alone.
std::int32_t launcher_rank();

// launcher_follows tells that another process of this host was started for the same program and is
// the one that compiles it.
bool launcher_follows();

// let_rank_0_speak is called before a message that every rank would print. On other ranks it waits
// to be ended by the launcher, which rank 0's exit code makes it do; it returns after some seconds,
// for then the trouble is this rank's alone.
void let_rank_0_speak();

}  // namespace tessera::cli
