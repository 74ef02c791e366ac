#include "compiler/emit/bulk.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "compiler/block/boxes.hpp"
#include "compiler/block/walk.hpp"

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

using Counter = std::set<const Variable*, block::ById>;

bool tells_run(const block::NameUse& n, const Counter& counter) {
  return std::any_of(n.indices.begin(), n.indices.end(),
                     [&](const block::ExprPtr& e) { return block::mentioned(*e, counter) != nullptr; });
}
// Of the same series of elements: run by run what the other names.
bool in_series(const block::NameUse& a, const block::NameUse& b, const Counter& counter) {
  const auto alike = [&](const block::ExprPtr& x, const block::ExprPtr& y) {
    return block::equal(x, y) || (block::mentioned(*x, counter) != nullptr && block::mentioned(*y, counter) != nullptr);
  };
  return a.base == b.base && std::equal(a.indices.begin(), a.indices.end(), b.indices.begin(), b.indices.end(), alike);
}

// What the turns of a `while` make and read: calls only; a sub's names are not looked through.
struct Turn {
  std::set<const Variable*, block::ById> made;
  std::vector<const block::NameUse*> read;
};
void look(const Body& body, Turn& turn) {
  for (const block::Declared& name : body.names) turn.made.insert(name.variable);
  for (const block::Step& step : body.steps) {
    if (const auto* when = std::get_if<std::unique_ptr<block::When>>(&step)) {
      look((*when)->body, turn);
    } else if (const auto* spawn = std::get_if<block::Spawn>(&step)) {
      for (const auto& b : spawn->chain->blocks) {
        for (const block::Input& in : b->inputs) turn.read.push_back(&in.name);
        for (const block::NameUse* n : b->outputs()) turn.made.insert(n->base);
        if (spawn->owned != nullptr && b->body) look(*b->body, turn);
      }
    }
  }
}

}  // namespace

bool follows_others(const Chain& chain) {
  for (const auto& b : chain.blocks) {
    if (b->last != nullptr) {
      const Counter counter = {b->counter};
      const auto outputs = b->outputs();
      for (const auto& of : chain.blocks) {
        for (const block::Input& in : of->inputs) {
          const bool own = std::any_of(outputs.begin(), outputs.end(),
                                       [&](const block::NameUse* o) { return in_series(in.name, *o, counter); });
          if (!own && tells_run(in.name, counter)) return true;
        }
      }
    } else if (b->kind == block::Kind::loop) {
      Turn turn;
      look(*b->body, turn);
      const Counter counter = {b->counter};
      for (const block::NameUse* n : turn.read) {
        if (turn.made.count(n->base) == 0 && tells_run(*n, counter)) return true;
      }
    }
  }
  return false;
}

namespace {

// Whether all that the body makes, also by loops, is calls that run once or follow others, and some read what is not
// its `own`.
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
      const bool around =
          spawn->owned != nullptr && (chain.kind == block::Kind::range || chain.kind == block::Kind::eval);
      if (around && chain.last().body) {
        look(*chain.last().body, own, calls);
        continue;
      }
      const bool follows = repeats(chain) && follows_others(chain);
      calls.only = calls.only && chain.kind == block::Kind::atomic && (follows || !repeats(chain));
      calls.read_others = calls.read_others || follows || reads_others(chain, own);
    }
  }
}

}  // namespace

bool is_bulk(const Chain& chain) {
  if (chain.kind == block::Kind::atomic) return repeats(chain) && !follows_others(chain);
  if (chain.kind != block::Kind::range) return false;
  std::vector<const Variable*> own;
  Calls calls;
  look(*chain.last().body, own, calls);
  return !calls.only || !calls.read_others;
}

}  // namespace tessera::compiler::emit
