// Pass count-uses.
#pragma once

#include "compiler/block/program.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::block {

// Finds the names of which it is known, whenever one of their fragments is assigned, how many
// fragments will read it: such a fragment is freed with its last use and needs no advice for it.
// Before: for i { f(x[i], &x[i + 1]) } g(x[N]). After: the same, and uses of x[k0] =
// (first <= k0 <= last) + (k0 == N).
// A `delete` by one of several readers is taken out: the fragment goes with the last of them.
// Readers about which the run decides are counted, too, and taken back (undecided.hpp).
// Left alone: names that are passed to subs, whose readers' indices do not tell the iterations (equations.hpp), or that
// may be assigned twice.
void count_uses(Program& program, Diagnostics& diagnostics);

}  // namespace tessera::compiler::block
