// Pass note-callers.
#pragma once

#include "compiler/block/program.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::block {

// Notes where the user calls what the library is made of, for messages of a running program: they
// would name only lines of a file that the user has not written.
// Before: only copies of subs have callers. After: each chain in a sub of the library has the user's calls of that
// sub, and of the subs of the library that call it.
void note_callers(Program& program, Diagnostics& diagnostics);

}  // namespace tessera::compiler::block
