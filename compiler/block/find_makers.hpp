// Pass find-makers.
#pragma once

#include "compiler/block/program.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::block {

// Finds for inputs of calls with locators where what they read is made: at the place that the locator of the assigning
// call says. A rank does not ask for what will be made on itself. Before: f(x[i]) locator i; g(x[i - 1]) locator i.
// After: the same, and g's input is made at i - 1. Left alone: names that are passed to subs, assigned without a
// locator, by `>>` or a `while`, or have advice that frees
// (`delete`, `-->`, `req_count`); places that the indices read do not tell, or that differ between calls which can't be
// told from each other by their indices.
void find_makers(Program& program, Diagnostics& diagnostics);

}  // namespace tessera::compiler::block
