#include "compiler/emit/bulk.hpp"

#include <algorithm>
#include <vector>

namespace tessera::compiler::emit {
namespace {

using block::Body;
using block::Chain;
using semantics::Variable;

bool repeats(const Chain& chain) {
  return std::any_of(chain.blocks.begin(), chain.blocks.end(), [](const auto& b) { return b->last != nullptr; });
}

bool reads_others(const Chain& call, const std::vector<const Variable*>& own) {
  for (const auto& b : call.blocks) {
    for (const block::Input& in : b->inputs) {
      if (std::find(own.begin(), own.end(), in.name.base) == own.end()) return true;
    }
  }
  return false;
}

// Whether all that the body makes is calls that run once, some of which read what is not its `own`.
struct Calls {
  bool only = true;
  bool read_others = false;
};
void look(const Body& body, std::vector<const Variable*>& own, Calls& calls) {
  for (const block::Declared& name : body.names) own.push_back(name.variable);
  for (const block::Step& step : body.steps) {
    if (const auto* when = std::get_if<std::unique_ptr<block::When>>(&step)) {
      look((*when)->body, own, calls);
    } else if (const auto* spawn = std::get_if<block::Spawn>(&step)) {
      const Chain& chain = *spawn->chain;
      calls.only = calls.only && chain.kind == block::Kind::atomic && !repeats(chain);
      calls.read_others = calls.read_others || reads_others(chain, own);
    }
  }
}

}  // namespace

bool is_bulk(const Chain& chain) {
  if (chain.kind == block::Kind::atomic) return repeats(chain);
  if (chain.kind != block::Kind::range) return false;
  std::vector<const Variable*> own;
  Calls calls;
  look(*chain.last().body, own, calls);
  return !calls.only || !calls.read_others;
}

}  // namespace tessera::compiler::emit
