#include "compiler/block/number_blocks.hpp"

#include <algorithm>

#include "compiler/block/walk.hpp"

namespace tessera::compiler::block {

void number_blocks(Program& program, Diagnostics&) {
  std::uint32_t next = 0;
  program.chains.clear();
  for_each_chain(program, [&](Chain& chain) {
    program.chains.push_back(&chain);
    for (auto& b : chain.blocks) b->index = next++;
  });
  for (Chain* chain : program.chains) {
    Block& range = chain->last();
    if (range.kind != Kind::range) continue;
    range.ends = range.index + 1;
    for_each_chain(*range.body, [&](Chain& in) { range.ends = std::max(range.ends, in.last().index + 1); });
  }
}

}  // namespace tessera::compiler::block
