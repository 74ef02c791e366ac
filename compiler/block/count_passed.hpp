// Pass count-passed.
#pragma once

#include "compiler/block/program.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::block {

// Finds names that are passed to subs and read once: a sub that only assigns what it is passed, and that once, is as
// good as a kernel. Who assigns such a fragment knows by its name that one fragment will read it. Before: df a;
// tree(depth - 1, a); add(a, x). After: the same, and one use of a. Left alone: names with indices, with advice, or
// that are read in a loop inside of what declares them; and what is not proved to be assigned once, and to be read
// wherever it is assigned.
void count_passed(Program& program, Diagnostics& diagnostics);

}  // namespace tessera::compiler::block
