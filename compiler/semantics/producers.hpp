// Who assigns what: a whole-program, flow-insensitive analysis over names.
#pragma once

#include "compiler/diagnostics.hpp"
#include "compiler/semantics/model.hpp"

namespace tessera::compiler::semantics {

// mark_used sets Sub::used for every sub reachable from main.
void mark_used(Model& model);

// find_producers unites each `name` parameter with every argument passed for it and writes
// Variable::producers. A name that is read while nothing in its class is ever assigned is an error.
void find_producers(Model& model, Diagnostics& diagnostics);

}  // namespace tessera::compiler::semantics
