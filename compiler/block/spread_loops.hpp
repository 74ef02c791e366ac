// Pass spread-loops.
#pragma once

#include "compiler/block/program.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::block {

// Finds loops all of whose calls have locators: each rank runs such a loop by itself and creates the fragments that are
// placed on it, instead of one rank creating and sending them all.
// Before: range i(0, n) { atomic f locator i }
// After: range i(0, n, rank, ranks) { atomic f locator i, if that is `rank` of `ranks` }
// If all are placed alike, whatever the counters, the loop itself is sent there.
// Loops in such a loop are run along with it. Left alone: loops that declare names, or with any other statement.
void spread_loops(Program& program, Diagnostics& diagnostics);

}  // namespace tessera::compiler::block
