#include "compiler/block/fuse_branches.hpp"

#include <iterator>

namespace tessera::compiler::block {
namespace {

// The one call under the `if`, where it can be part of its chain; else null.
Chain* only_call(const Spawn& branch) {
  if (branch.owned == nullptr || branch.owned->kind != Kind::branch || branch.owned->locator != nullptr ||
      branch.owned->stealable || !branch.holds.empty()) {
    return nullptr;
  }
  const Block& decides = branch.owned->last();
  if (!decides.deletes.empty() || !decides.done.empty() || !decides.counts.empty()) return nullptr;
  const Body& body = *decides.body;
  if (!body.names.empty() || !body.deletes.empty() || !body.holds.empty() || body.steps.size() != 1) return nullptr;
  const auto* spawn = std::get_if<Spawn>(&body.steps[0]);
  if (spawn == nullptr || spawn->owned == nullptr || spawn->chain->kind != Kind::atomic) return nullptr;
  Chain& chain = *spawn->owned;
  const bool plain = chain.locator == nullptr && !chain.stealable && chain.parameters.empty() && chain.series.empty() &&
                     spawn->rank == nullptr && spawn->holds.empty() && !spawn->has_end();
  return plain && chain.blocks.front()->locate == nullptr ? &chain : nullptr;
}

void fuse_in(Body& body) {
  for (Step& step : body.steps) {
    if (auto* when = std::get_if<std::unique_ptr<When>>(&step)) {
      fuse_in((*when)->body);
      continue;
    }
    auto* branch = std::get_if<Spawn>(&step);
    if (branch == nullptr || branch->owned == nullptr) continue;
    if (Chain* const only = only_call(*branch)) {
      Chain& chain = *branch->owned;
      const std::unique_ptr<Chain> call = std::move(std::get<Spawn>(chain.last().body->steps[0]).owned);
      chain.last().body.reset();
      chain.last().kind = Kind::eval;
      chain.kind = only->kind;
      chain.label = only->label;
      chain.text = only->text;
      chain.at = only->at;
      chain.callers = only->callers;
      chain.inlined = only->inlined;
      chain.temporaries.insert(chain.temporaries.end(), only->temporaries.begin(), only->temporaries.end());
      std::move(call->blocks.begin(), call->blocks.end(), std::back_inserter(chain.blocks));
      continue;
    }
    for (auto& block : branch->owned->blocks) {
      if (block->body) fuse_in(*block->body);
    }
  }
}

}  // namespace

void fuse_branches(Program& program, Diagnostics&) {
  for (auto& sub : program.subs) fuse_in(*sub->last().body);
}

}  // namespace tessera::compiler::block
