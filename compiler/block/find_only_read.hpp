// Pass find-only-read.
#pragma once

#include "compiler/block/program.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::block {

// Finds the names of each chain's frame that neither it nor what it makes assigns, by subs as well. Of a run that can't
// finish it is told what nobody assigns: what waits may yet assign all its other names.
// Before: while x[i] > 0, i = 0 .. out n f(y[i], x[i + 1]);. After: it only reads y.
void find_only_read(Program& program, Diagnostics& diagnostics);

}  // namespace tessera::compiler::block
