// Macros that are defined and then not used.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/diagnostics.hpp"
#include "compiler/source/sources.hpp"

namespace tessera::compiler {

// check_macros warns about each of `defined`, the macros of the main file, that no text read
// mentions as
// `$NAME` or asks for with #ifdef or #ifndef. A mention anywhere counts, also in a branch that is
// not taken, a comment or C++ text; when macros build names of macros (`$$`), nothing is reported.
void check_macros(const Sources& sources, const std::vector<std::pair<std::string, Place>>& defined,
                  Diagnostics& diagnostics);

}  // namespace tessera::compiler
