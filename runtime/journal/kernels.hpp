// Which kernels a program has: their code, whatever file it was compiled from.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/abi/tessera/abi.hpp"

namespace tessera::runtime::journal {

// From the build ID of the program's file: `tessera build` makes its first half of the kernels (cli/link.cpp). Zeros:
// there is none.
std::array<std::uint64_t, 2> kernels_of(const abi::Program&);

}  // namespace tessera::runtime::journal
