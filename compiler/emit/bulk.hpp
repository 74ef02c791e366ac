// Which fragments take along, when they are shipped, what costs no shipment of its own (abi::kBulk).
#pragma once

#include "compiler/block/program.hpp"

namespace tessera::compiler::emit {

// A call that repeats: all its runs, unless they follow others. A range: its iterations travel as one, unless all that
// they make, also by loops, is calls, some of which read what is made elsewhere: each of these would ask for it.
bool is_bulk(const block::Chain& chain);

// follows_others: a call that repeats, or a `while`, each run or turn of which reads what others make meanwhile.
bool follows_others(const block::Chain& chain);

}  // namespace tessera::compiler::emit
