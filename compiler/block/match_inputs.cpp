#include "compiler/block/match_inputs.hpp"

#include <unordered_map>
#include <unordered_set>

#include "compiler/block/walk.hpp"
#include "compiler/semantics/expression.hpp"

namespace tessera::compiler::block {
namespace {

using semantics::Expr;

void match(Block& block) {
  std::unordered_map<std::string, std::int32_t> numbers;
  const auto note = [&](const ExprPtr& read, const ExprPtr& when) {
    const auto [it, fresh] = numbers.emplace(semantics::key(*read), static_cast<std::int32_t>(numbers.size()));
    if (fresh) {
      block.inputs.push_back({read->name, when});
    } else {
      Input& known = block.inputs[static_cast<std::size_t>(it->second)];
      known.when = either(known.when, when);
    }
  };
  visit(block, {[&](ExprPtr& e) { needed_reads(e, note); },
                [&](NameUse& n) {
                  for (const ExprPtr& i : n.indices) needed_reads(i, note);
                }});
  const auto swap = [&](const ExprPtr& node) -> ExprPtr {
    if (node->kind != Expr::Kind::read) return nullptr;
    auto e = std::make_shared<Expr>();
    e->kind = Expr::Kind::input;
    e->type = node->type;
    e->at = node->at;
    e->integer = numbers.at(semantics::key(*node));
    return e;
  };
  visit(block, {[&](ExprPtr& e) { e = rewrite(e, swap); }, [&](NameUse& n) { n = rewrite(n, swap); }});
}

// A statement reads a fragment once, however many of its blocks do: the last one counts. A count of reads that mentions
// what it counts is no read of that.
void count_reads(Chain& chain) {
  std::unordered_set<std::string> seen;
  if (const NameUse* counted = chain.counted_only()) seen.insert(semantics::key(*counted));
  for (auto block = chain.blocks.rbegin(); block != chain.blocks.rend(); ++block) {
    std::uint32_t number = 0;
    for (const Input& in : (*block)->inputs) {
      if (in.name.base->counted && seen.insert(semantics::key(in.name)).second) {
        (*block)->counted.push_back(number);
      }
      ++number;
    }
  }
}

}  // namespace

void match_inputs(Program& program, Diagnostics&) {
  for_each_chain(program, [](Chain& chain) {
    for (auto& block : chain.blocks) match(*block);
    count_reads(chain);
  });
}

}  // namespace tessera::compiler::block
