// Pass share-loops.
#pragma once

#include "compiler/block/program.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::block {

// Finds loops of steps: those that run in order and make loops of the same size in each step. Where one rank has several
// workers, each runs such a loop by itself and makes its part of the loops inside (Node::deal): what a
// fragment reads of the step before was mostly made by the same worker.
// Before: for t { for i { step(x[t - 1][i - 1], x[t - 1][i], x[t][i]) } }
// After: the same, and the loop over t is shared.
// Left alone: loops that declare names, or whose inner loops depend on the step.
void share_loops(Program& program, Diagnostics& diagnostics);

}  // namespace tessera::compiler::block
