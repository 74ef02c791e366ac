// How fragments and places are named to people.
#pragma once

#include <string>

#include "runtime/abi/tessera/abi.hpp"

namespace tessera::runtime {

// "matmul.fa:24"
std::string place(const abi::Program&, abi::Pos);
// ", called at matmul.fa:24" for a block of a sub, whose own place says little: all calls that it may belong to. For
// others "".
std::string called_at(const abi::Program&, const abi::Block&);
// "`mul(A[i][k], B[k][j], Ctmp[k])` at matmul.fa:24 (i=2, j=5, k=0)"
std::string describe(const abi::Program&, const abi::Cf*);
// "`mul` at matmul.fa:24"
std::string describe(const abi::Program&, const abi::Block&);
// Input or output number `slot` (inputs first) with its index values: "Csum[3]".
std::string slot_text(const abi::Cf*, unsigned slot);

// Does a call of a kernel stand at the end of this group's chain? Its weight is that of the call.
bool calls_kernel(const abi::Program&, std::uint32_t group);

}  // namespace tessera::runtime
