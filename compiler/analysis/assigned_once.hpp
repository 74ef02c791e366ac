// Names of which no fragment can be assigned twice: what the translator may rely on.
#pragma once

#include <unordered_set>

#include "compiler/analysis/flow.hpp"

namespace tessera::compiler::analysis {

using Names = std::unordered_set<const semantics::Variable*>;

// assigned_once returns the `df` names of which it is proved that, whatever the values in the
// program are, no two assignments (nor two instances of one) are to the same fragment. Names of
// subs that call themselves are not looked at; a proof that takes long is not found.
Names assigned_once(const semantics::Model& model, const Flow& flow);

}  // namespace tessera::compiler::analysis
