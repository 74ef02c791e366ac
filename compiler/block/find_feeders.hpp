// Pass find-feeders.
#pragma once

#include "compiler/block/program.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::block {

// Finds for each chain which chains may assign what it reads: all that assign some fragment of these names, or of what
// is passed as them. Where values pile up it is known by that which loop makes what somebody waits for.
//   for i = 1..n { f(x[i]); }   for i = 1..n { g(x[i], y[i]); }      what g reads f may assign
void find_feeders(Program& program, Diagnostics& diagnostics);

}  // namespace tessera::compiler::block
