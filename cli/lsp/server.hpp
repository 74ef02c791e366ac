// The language server: requests of an editor on one descriptor, answers on another.
#pragma once

#include "compiler/compiler.hpp"

namespace tessera::cli::lsp {

// serve talks to one editor until it says goodbye; returns the exit code that the protocol asks
// for.
int serve(int in, int out, compiler::Options options);

}  // namespace tessera::cli::lsp
