// For callers that have MPI (tessera/library.hpp): options.communicator = tessera::communicator(MPI_COMM_WORLD);
#pragma once

#include <mpi.h>

#include <cstdint>

namespace tessera {

inline std::int32_t communicator(MPI_Comm comm) { return MPI_Comm_c2f(comm); }

}  // namespace tessera
