// Pass stage-indices.
#pragma once

#include "compiler/block/program.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::block {

// Splits a block that reads or assigns a fragment whose index is itself read from a fragment.
// Before: atomic f(A[n + 1], n). After: eval t := n + 1, u := n; atomic f(A[t], u).
// A locator that reads fragments becomes an eval block that places the CF.
void stage_indices(Program& program, Diagnostics& diagnostics);

}  // namespace tessera::compiler::block
