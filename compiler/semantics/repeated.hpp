// Subs and kernels of one name: old programs repeat them, mostly by including a file twice.
#pragma once

#include "compiler/diagnostics.hpp"
#include "compiler/syntax/ast.hpp"

namespace tessera::compiler::semantics {

// drop_repeated leaves of all subs, imports and kernels in place that share a name the last one. It warns
// where two of them differ; those that say the same, and heads that do, are dropped in silence. Names of
// the library and of the user do not meet.
void drop_repeated(syntax::Program& program, Diagnostics& diagnostics);

}  // namespace tessera::compiler::semantics
