// Pass note-callers.
#pragma once

#include "compiler/block/program.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::block {

// Notes where subs are called, for messages of a running program: a name means something else in each call, and of the
// library they would name only lines of a file that the user has not written.
// Before: only copies of subs have callers. After: each chain in a sub has the calls of that sub; in one of the library
// the user's calls, also those of the subs of the library that call it.
void note_callers(Program& program, Diagnostics& diagnostics);

}  // namespace tessera::compiler::block
