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
// Left alone: names that are passed to subs, read in `while` or under conditions that read,
// indexed with anything but sums of counters, or that may be assigned twice.
void count_uses(Program& program, Diagnostics& diagnostics);

}  // namespace tessera::compiler::block
