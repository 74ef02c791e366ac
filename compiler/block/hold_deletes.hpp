// Pass hold-deletes.
#pragma once

#include "compiler/block/program.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::block {

// All iterations of a `for` exist at once, but the runtime makes them when it has time. So that no `delete` or `-->`
// elsewhere comes before a reader that is not made yet, a loop that reads what is deleted elsewhere holds it: from when
// the loop is created until everything under it has finished (runtime/data/holds.hpp). Before: for i { look(x[t][i]) };
// use(x[t]) --> (x[t][k]); After: the same, and the loop holds x[t]. What is held is the name with those indices that
// are known where the loop is created. Calls of subs with such loops are held as a whole. A loop that both reads and
// deletes a name is held if one iteration may delete what another reads, unless it runs in order: then its iterations
// hold what they read themselves. Left alone: names without a `delete` or `-->`, or whose deletes pass count-uses has
// taken out.
void hold_deletes(Program& program, Diagnostics& diagnostics);

}  // namespace tessera::compiler::block
