// Pass defer-arguments.
#pragma once

#include "compiler/block/program.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::block {

// A CF is created with its arguments; those that read fragments must be waited for first.
// Before: spawn sub f(x + 1). After: spawn eval { spawn sub f(x + 1) }, where the eval block will
// have x as its input. The same for bounds of loops, and for a sub called with a locator.
void defer_arguments(Program& program, Diagnostics& diagnostics);

}  // namespace tessera::compiler::block
