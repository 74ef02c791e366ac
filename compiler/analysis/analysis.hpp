// Data flow of a program that is well formed: what is certain to go wrong when it runs.
#pragma once

#include "compiler/analysis/assigned_once.hpp"
#include "compiler/diagnostics.hpp"
#include "compiler/semantics/model.hpp"

namespace tessera::compiler::analysis {

// Facts: what is proved on the way, for the optimisations. Empty when something is wrong.
struct Facts {
  Names assigned_once;
};

// analyse reports; see Checker for what is an error and what a warning. After mark_used and
// find_producers.
Facts analyse(const semantics::Model& model, Diagnostics& diagnostics);

}  // namespace tessera::compiler::analysis
