#include "compiler/block/number_blocks.hpp"

#include "compiler/block/walk.hpp"

namespace tessera::compiler::block {

void number_blocks(Program& program, Diagnostics&) {
  std::uint32_t next = 0;
  program.chains.clear();
  for_each_chain(program, [&](Chain& chain) {
    program.chains.push_back(&chain);
    for (auto& b : chain.blocks) b->index = next++;
  });
}

}  // namespace tessera::compiler::block
