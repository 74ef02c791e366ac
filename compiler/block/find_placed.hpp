// Pass find-placed.
#pragma once

#include "compiler/block/program.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::block {

// Finds what makes nothing but fragments that have a place, in the end: subs, `if`s, `while`s and loops of calls with
// locators. Where these run balances nothing, so they are not offered to balancers.
// Before: sub row(int t, name x) { for i = 0..9 f(x[t][i], x[t + 1][i]) @ { locator_cyclic: i; }; }. After: its calls,
// and loops of its calls, are placed.
void find_placed(Program& program, Diagnostics& diagnostics);

}  // namespace tessera::compiler::block
