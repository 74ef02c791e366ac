// Which loops run in order.
#pragma once

#include "compiler/block/program.hpp"

namespace tessera::compiler::block {

// True when an iteration of the range reads what another one assigned.
bool runs_in_order(const Block& range);

}  // namespace tessera::compiler::block
