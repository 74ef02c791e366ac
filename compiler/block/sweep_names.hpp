// Pass sweep-names.
#pragma once

#include "compiler/block/program.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::block {

// Finds the names that count-uses has left whose fragments can go all the same: of all records that exist (what is left
// of a loop, a `while`, a sub that waits) it is known which elements they, and what they make, may still read.
//   for t = 1..n for i = 0..9 step(x[t - 1][p[i]], x[t][i]);     the loop from t = k on: rows k - 1 and later
// Each record is given its hulls (Block::hulls), and what is assigned is told its place: the runtime sweeps what no
// hull has any more (runtime/fragment/horizon.hpp). Names that are passed to subs are followed there (Chain::hidden).
// Left alone: names with advice that frees; those of which no index moves on with the loops that make them grow.
void sweep_names(Program& program, Diagnostics& diagnostics);

}  // namespace tessera::compiler::block
