// The functions that say how many fragments will read what an assignment assigns.
#pragma once

#include <string>

#include "compiler/block/program.hpp"
#include "compiler/emit/expression.hpp"

namespace tessera::compiler::emit {

// uses_functions writes them for all names whose uses are known. Those that count alike are one.
struct UsesFunctions {
  std::string text;
  UsesNames names;
};
UsesFunctions uses_functions(const Context& context, const block::Program& program);

// uses_call is the call for one assignment: the number of fragments that will read it.
std::string uses_call(const Context& context, const block::Uses& uses, const semantics::NameUse& assigned,
                      const ExpressionWriter& expr, const Environment& environment);

}  // namespace tessera::compiler::emit
