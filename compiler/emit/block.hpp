// One block as C++ text: its functions, its tables, its Block.
#pragma once

#include <string>

#include "compiler/block/program.hpp"
#include "compiler/emit/text.hpp"

namespace tessera::compiler::emit {

// block_text writes block number `position` of the chain. Kernels are declared elsewhere as
// `k_<symbol>`, blocks as `B<index>`.
std::string block_text(const Context& context, const block::Chain& chain, std::size_t position);

}  // namespace tessera::compiler::emit
