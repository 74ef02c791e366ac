// Pass fuse-chains.
#pragma once

#include "compiler/block/program.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::block {

// A loop of one kernel call that reads what its own iteration before assigned runs in order anyhow:
// it becomes one CF that repeats.
// Before: range i { spawn atomic in(x[i - 1]) f(in0, &x[i]) }. After: atomic in(x[i - 1])
// f(in0, &x[i]), repeated for i = first..last.
// Left alone: calls with a locator or other advice, and inputs under a condition.
void fuse_chains(Program& program, Diagnostics& diagnostics);

}  // namespace tessera::compiler::block
