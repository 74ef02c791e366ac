// The functions that say how many fragments will read what an assignment assigns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

// taking_back writes what block number `block` does when it has decided that these uses are not made.
std::string taking_back(const Context& context, const Environment& environment, std::uint32_t block,
                        const std::vector<block::TakenBack>& list, const std::string& indent);

}  // namespace tessera::compiler::emit
