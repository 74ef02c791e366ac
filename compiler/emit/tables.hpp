// What the runtime is told of one block: its Block, and the lists that this names.
#pragma once

#include <cstddef>
#include <string>

#include "compiler/block/program.hpp"
#include "compiler/emit/alike.hpp"
#include "compiler/emit/text.hpp"

namespace tessera::compiler::emit {

// block_tables writes them for block number `position` of the chain, whose functions are `written`.
std::string block_tables(const Context& context, const block::Chain& chain, std::size_t position,
                         const Alike::Written& written);

}  // namespace tessera::compiler::emit
