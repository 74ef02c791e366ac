// Pass find-series.
#pragma once

#include "compiler/block/program.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::block {

// Finds calls whose fragments form series: what a call does for the same indices in one step after the
// other of a loop that runs in order. When the balancer has moved one, the next of the series follow
// (runtime/node/retained.hpp). A loop runs in order when an iteration reads what another one
// assigned; `while` always does.
// Before: for t { for i { step(x[t - 1][i - 1], x[t - 1][i], x[t][i]) @ { locator_cyclic: i; } } }
// After: the same, and the calls for one i are a series.
// Left alone: calls without a locator, or with one that changes from step to step; in main, those in no such loop.
void find_series(Program& program, Diagnostics& diagnostics);

}  // namespace tessera::compiler::block
