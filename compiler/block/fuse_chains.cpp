#include "compiler/block/fuse_chains.hpp"

#include <algorithm>

#include "compiler/block/sum.hpp"

namespace tessera::compiler::block {
namespace {

// Is `read` in one iteration what `assigned` was in the iteration before?
bool of_iteration_before(const NameUse& read, const NameUse& assigned, const Variable* counter) {
  if (read.base != assigned.base || read.indices.size() != assigned.indices.size()) return false;
  bool moves = false;
  for (std::size_t k = 0; k < read.indices.size(); ++k) {
    const auto r = sum_of(*read.indices[k]);
    auto a = sum_of(*assigned.indices[k]);
    if (!r || !a) return false;
    if (const auto at = a->terms.find(counter); at != a->terms.end()) {
      moves = true;
      a->constant -= at->second;  // counter - 1
    }
    if (!(*r == *a)) return false;
  }
  return moves;
}

// The one call of the loop's body, when it can be repeated; else null.
Chain* repeatable(const Spawn& loop) {
  if (loop.owned == nullptr || loop.owned->kind != Kind::range) return nullptr;
  const Block& range = loop.owned->last();
  const Body& body = *range.body;
  if (!body.names.empty() || !body.deletes.empty() || body.steps.size() != 1) return nullptr;
  const auto* spawn = std::get_if<Spawn>(&body.steps[0]);
  if (spawn == nullptr || spawn->owned == nullptr || spawn->chain->kind != Kind::atomic) {
    return nullptr;
  }
  Chain& chain = *spawn->owned;
  const Block& block = chain.last();
  const bool plain = chain.blocks.size() == 1 && chain.locator == nullptr && !chain.stealable &&
                     chain.parameters.empty() && block.counts.empty() && block.counted.empty() && block.done.empty() &&
                     block.deletes.empty() && block.call;
  if (!plain) return nullptr;
  for (const Input& in : block.inputs) {
    if (in.when != nullptr) continue;
    for (const NameUse* out : block.outputs()) {
      if (of_iteration_before(in.name, *out, range.counter)) return &chain;
    }
  }
  return nullptr;
}

void fuse(Body& body) {
  for (Step& step : body.steps) {
    if (auto* when = std::get_if<std::unique_ptr<When>>(&step)) {
      fuse((*when)->body);
      continue;
    }
    auto* loop = std::get_if<Spawn>(&step);
    if (loop == nullptr || loop->owned == nullptr) continue;
    if (Chain* chain = repeatable(*loop)) {
      Chain& range = *loop->owned;
      chain->parameters = {range.last().counter, range.parameters[1]};
      chain->last().counter = range.last().counter;
      chain->last().last = range.parameters[1];
      auto& inner = std::get<Spawn>(range.last().body->steps[0]);
      std::unique_ptr<Chain> owned = std::move(inner.owned);
      loop->owned = std::move(owned);
      loop->chain = loop->owned.get();
      continue;
    }
    for (auto& block : loop->owned->blocks) {
      if (block->body) fuse(*block->body);
    }
  }
}

}  // namespace

void fuse_chains(Program& program, Diagnostics&) {
  for (auto& sub : program.subs) fuse(*sub->last().body);
}

}  // namespace tessera::compiler::block
