// Pass fuse-branches.
#pragma once

#include "compiler/block/program.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::block {

// An `if` around one call of a kernel is that call, which waits for the condition first.
// Before: branch in(f[i]) condition (in0 == 0) { spawn atomic in(x[i]) f(in0, &y[i]) }. After: one chain, eval
// in(f[i]) condition (in0 == 0), then atomic in(x[i]) f(in0, &y[i]). Left alone: calls with a locator, series, and
// whatever deletes may have to wait for.
void fuse_branches(Program& program, Diagnostics& diagnostics);

}  // namespace tessera::compiler::block
