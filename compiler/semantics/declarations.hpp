// What is declared and then not used, or hides something that was probably meant: mistakes of the
// text, found in the syntax tree. Every message here is a warning.
#pragma once

#include <string>

#include "compiler/diagnostics.hpp"
#include "compiler/syntax/ast.hpp"

namespace tessera::compiler::semantics {

// check_declarations looks at a program without errors. Doubt is settled for the program: names
// that begin with `_`, what an included file or a macro's body declares, parameters of kernels and
// of empty subs and counters of empty loops are never reported; a mention in advice, a pragma, C++
// text or `skipped` (text of branches that were not taken) counts as a use.
void check_declarations(const syntax::Program& program, const std::string& skipped, Diagnostics& diagnostics);

}  // namespace tessera::compiler::semantics
