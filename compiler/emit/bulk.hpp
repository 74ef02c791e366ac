// Which fragments take along, when they are shipped, what costs no shipment of its own (abi::kBulk).
#pragma once

#include "compiler/block/program.hpp"

namespace tessera::compiler::emit {

// A call that repeats: all its runs. A range: its iterations travel as one, unless all that they make is calls, some of
// which read what is made elsewhere: each of these would ask for it.
bool is_bulk(const block::Chain& chain);

}  // namespace tessera::compiler::emit
