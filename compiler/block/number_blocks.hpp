// Pass number-blocks.
#pragma once

#include "compiler/block/program.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::block {

// Gives blocks their indices, main first, and lists all chains. Ranges are told what stands within them, also by subs.
// Before: blocks all have index 0. After: index is the place in Program::blocks of the ABI, Block::within has such
// indices.
void number_blocks(Program& program, Diagnostics& diagnostics);

}  // namespace tessera::compiler::block
