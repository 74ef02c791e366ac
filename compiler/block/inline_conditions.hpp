// Pass inline-conditions.
#pragma once

#include "compiler/block/program.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::block {

// An `if` whose condition reads no fragment needs no CF of its own.
// Before: spawn branch `if` (i > 0) { ... }. After: when (i > 0) { ... }, run by the body around it.
void inline_conditions(Program& program, Diagnostics& diagnostics);

}  // namespace tessera::compiler::block
