// Pass find-readers.
#pragma once

#include "compiler/block/program.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::block {

// Finds, for names whose uses are counted, the readers whose place follows from the element's indices: their locators
// ask for nothing else. Who assigns the element sends it there at once, and nobody there asks for it. Before: f(&x[i]);
// g(x[i - 1]) locator i. After: the same, and x[k0] is sent to k0 + 1. Left alone: what count-uses leaves alone, names
// that are deleted (who asks is told by whom), and readers that are placed by other counters than those their index
// tells.
void find_readers(Program& program, Diagnostics& diagnostics);

}  // namespace tessera::compiler::block
