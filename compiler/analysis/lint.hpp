// Findings that need no flow: one look at each sub as it stands in the text.
#pragma once

#include "compiler/diagnostics.hpp"
#include "compiler/semantics/model.hpp"

namespace tessera::compiler::analysis {

// T318: a condition that is always true or always false. What comes from macros and `let` is there
// to be changed, and a plain number was written on purpose: neither is reported. T320: a loop whose body
// never runs.
void check_conditions(const semantics::Model& model, Diagnostics& diagnostics);

// T224, T225: results of comparisons in bounds, indices and sums; real bounds.
void check_numbers(const semantics::Model& model, Diagnostics& diagnostics);

// T319: a sub that calls itself, perhaps through others, whenever it runs.
void check_recursion(const semantics::Model& model, Diagnostics& diagnostics);

}  // namespace tessera::compiler::analysis
