// One block as C++ text: its functions, its tables, its Block.
#pragma once

#include <string>

#include "compiler/block/program.hpp"
#include "compiler/emit/alike.hpp"
#include "compiler/emit/text.hpp"

namespace tessera::compiler::emit {

// block_functions writes the functions of block number `position` of the chain, with holes. Kernels are
// declared elsewhere as `k_<symbol>`, blocks as `B<index>`.
std::string block_functions(const Context& context, const block::Chain& chain, std::size_t position);

// BlockText is what is to be written of a block: its functions, unless a block that is alike has them, and its tables.
struct BlockText {
  std::string functions, tables;
  std::uint32_t of = 0;      // the block that has the functions
  std::string declarations;  // of these, for files that lack them
};
BlockText block_text(const Context& context, const block::Chain& chain, std::size_t position, const Alike& alike);

}  // namespace tessera::compiler::emit
