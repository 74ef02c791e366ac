#include "compiler/block/inline_conditions.hpp"

#include "compiler/block/walk.hpp"

namespace tessera::compiler::block {
namespace {

void rewrite_body(Body& body) {
  for (Step& step : body.steps) {
    if (auto* when = std::get_if<std::unique_ptr<When>>(&step)) {
      rewrite_body((*when)->body);
    } else if (auto* spawn = std::get_if<Spawn>(&step)) {
      if (spawn->owned == nullptr) continue;
      Block& block = spawn->owned->last();
      if (block.body) rewrite_body(*block.body);
      if (block.kind != Kind::branch || block.condition->reads) continue;
      auto when = std::make_unique<When>();
      when->ordinal = spawn->ordinal;
      when->condition = std::move(block.condition);
      when->body = std::move(*block.body);
      step = std::move(when);
    }
  }
}

}  // namespace

void inline_conditions(Program& program, Diagnostics&) {
  for (auto& sub : program.subs) rewrite_body(*sub->last().body);
}

}  // namespace tessera::compiler::block
