// Pass close-frames.
#pragma once

#include "compiler/block/program.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::block {

// Flat closures: a chain captures exactly the variables that its blocks and the statements in their
// bodies mention, and each variable gets its place in the frame.
// Before: for i { f(A, i, n) }. After: range frame(first, last, A, n), in it atomic frame(A, i, n).
void close_frames(Program& program, Diagnostics& diagnostics);

}  // namespace tessera::compiler::block
