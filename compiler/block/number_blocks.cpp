#include "compiler/block/number_blocks.hpp"

#include <algorithm>
#include <set>

#include "compiler/block/walk.hpp"

namespace tessera::compiler::block {
namespace {

// The subs that a body calls, and that these call.
void find_subs(const Body& body, std::set<const Chain*>& subs) {
  for (const Step& step : body.steps) {
    if (const auto* when = std::get_if<std::unique_ptr<When>>(&step)) find_subs((*when)->body, subs);
    const auto* spawn = std::get_if<Spawn>(&step);
    if (spawn == nullptr || (spawn->owned == nullptr && !subs.insert(spawn->chain).second)) continue;
    for (const auto& b : spawn->chain->blocks) {
      if (b->body) find_subs(*b->body, subs);
    }
  }
}

// Chains are numbered before those in their bodies, so these are the numbers from the first to the last.
std::uint32_t end_of(Chain& chain) {
  std::uint32_t end = chain.last().index + 1;
  for (auto& b : chain.blocks) {
    if (b->body) for_each_chain(*b->body, [&](Chain& in) { end = std::max(end, in.last().index + 1); });
  }
  return end;
}

}  // namespace

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
    range.within = {{range.index + 1, end_of(*chain)}};
    std::set<const Chain*> subs;
    find_subs(*range.body, subs);
    for (const auto& sub : program.subs) {
      if (subs.contains(sub.get())) range.within.emplace_back(sub->blocks.front()->index, end_of(*sub));
    }
  }
}

}  // namespace tessera::compiler::block
