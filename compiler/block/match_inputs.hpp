// Pass match-inputs.
#pragma once

#include "compiler/block/program.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::block {

// Every read becomes an input of its block; the same source expression is one input.
// Before: atomic f(x, x + y). After: atomic in(x, y) f(in0, in0 + in1).
void match_inputs(Program& program, Diagnostics& diagnostics);

}  // namespace tessera::compiler::block
