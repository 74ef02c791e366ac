// Pass find-carried.
#pragma once

#include "compiler/block/program.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::block {

// Finds in each loop the calls that wait for other iterations of it: they read what another iteration assigns, or only
// what calls of their own iteration assign that wait so. Other ranks are not offered iterations in which most of the
// time goes into such calls. Before: for t { step(x[t - 1], x[t]); show(x[t]); log(t); }. After: the same, and `step`
// and `show` wait, `log` doesn't.
void find_carried(Program& program, Diagnostics& diagnostics);

// Does an iteration of the `for` read what another one assigns, or may, by a sub?
bool runs_in_order(const Block& range);

}  // namespace tessera::compiler::block
