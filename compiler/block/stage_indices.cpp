#include "compiler/block/stage_indices.hpp"

#include <map>
#include <set>

#include "compiler/block/walk.hpp"
#include "compiler/semantics/expression.hpp"

namespace tessera::compiler::block {
namespace {

using semantics::Expr;

// Staging splits one block into evals and itself.
class Staging {
 public:
  Staging(Program& program, Chain& chain, Diagnostics& diagnostics)
      : program_(program), chain_(chain), diagnostics_(diagnostics) {}

  // before returns the eval blocks that must run before `block`, and rewrites it.
  std::vector<std::unique_ptr<Block>> before(Block& block) {
    std::vector<std::unique_ptr<Block>> result;
    while (true) {
      const std::map<std::string, Ready> ready = ready_indices(block);
      if (ready.empty()) return result;
      auto eval = std::make_unique<Block>();
      std::map<std::string, ExprPtr> temporaries;
      for (const auto& [key, index] : ready) {
        const Variable* t = temporary('i', index.value->at);
        eval->sets.push_back({t, when_needed(index)});
        temporaries[key] = semantics::make_variable(t, index.value->at);
      }
      replace(
          block, [&](const ExprPtr& e) { return with_indices(e, temporaries); },
          [&](const NameUse& n) { return name_with_indices(n, temporaries); });
      keep_values(*eval, block);
      result.push_back(std::move(eval));
    }
  }

 private:
  const Variable* temporary(char letter, Extent at) {
    const Variable* t = program_.temporary(letter, "t" + std::to_string(chain_.temporaries.size()), at);
    chain_.temporaries.push_back(t);
    return t;
  }

  struct Ready {
    ExprPtr value;
    ExprPtr when;  // as in Input
  };

  ExprPtr when_needed(const Ready& index) {
    if (index.when == nullptr) return index.value;
    const Extent at = index.value->at;
    return semantics::make_choice(index.when, index.value, semantics::make_integer(0, at), at, diagnostics_);
  }

  // The index expressions that read fragments, all of whose own indices are known.
  static std::map<std::string, Ready> ready_indices(Block& block) {
    std::map<std::string, Ready> result;
    const auto look = [&](const NameUse& name, const ExprPtr& when) {
      for (const ExprPtr& i : name.indices) {
        bool ready = i->reads;
        reads_in(i, [&](const ExprPtr& r) { ready = ready && !indices_read(r->name); });
        if (!ready) continue;
        const auto [it, fresh] = result.emplace(semantics::key(*i), Ready{i, when});
        if (!fresh) it->second.when = either(it->second.when, when);
      }
    };
    const auto in_reads = [&](const ExprPtr& e) {
      needed_reads(e, [&](const ExprPtr& r, const ExprPtr& when) { look(r->name, when); });
    };
    visit(block, {[&](ExprPtr& e) { in_reads(e); },
                  [&](NameUse& n) {
                    look(n, nullptr);
                    for (const ExprPtr& i : n.indices) in_reads(i);
                  }});
    return result;
  }

  static NameUse name_with_indices(const NameUse& name, const std::map<std::string, ExprPtr>& temporaries) {
    NameUse out = name;
    for (ExprPtr& i : out.indices) {
      const auto it = i->reads ? temporaries.find(semantics::key(*i)) : temporaries.end();
      i = it != temporaries.end() ? it->second : with_indices(i, temporaries);
    }
    return out;
  }

  static ExprPtr with_indices(const ExprPtr& e, const std::map<std::string, ExprPtr>& temporaries) {
    return rewrite(e, [&](const ExprPtr& node) -> ExprPtr {
      if (node->kind != Expr::Kind::read) return nullptr;
      auto copy = std::make_shared<Expr>(*node);
      copy->name = name_with_indices(node->name, temporaries);
      return copy;
    });
  }

  template <typename OnExpr, typename OnName>
  static void replace(Block& block, OnExpr on_expr, OnName on_name) {
    visit(block, {[&](ExprPtr& e) { e = on_expr(e); }, [&](NameUse& n) { n = on_name(n); }});
  }

  // A fragment read by `eval` and again by `block` is read once: its value stays in the frame.
  void keep_values(Block& eval, Block& block) {
    std::set<std::string> wanted;
    const auto note = [&](const ExprPtr& r) { wanted.insert(semantics::key(*r)); };
    visit(block, {[&](ExprPtr& e) { reads_in(e, note); },
                  [&](NameUse& n) {
                    for (const ExprPtr& i : n.indices) reads_in(i, note);
                  }});
    std::map<std::string, ExprPtr> kept;
    std::vector<Set> sets;
    for (const Set& s : eval.sets) {
      needed_reads(s.value, [&](const ExprPtr& r, const ExprPtr& when) {
        const std::string key = semantics::key(*r);
        if (when != nullptr || wanted.count(key) == 0 || kept.count(key) != 0) return;
        const Variable* t = temporary('v', r->at);
        sets.push_back({t, r});
        kept[key] = semantics::make_variable(t, r->at);
      });
    }
    if (kept.empty()) return;
    for (Set& s : sets) eval.sets.push_back(std::move(s));
    const auto swap = [&](const ExprPtr& node) -> ExprPtr {
      if (node->kind != Expr::Kind::read) return nullptr;
      const auto it = kept.find(semantics::key(*node));
      return it == kept.end() ? nullptr : it->second;
    };
    replace(
        block, [&](const ExprPtr& e) { return rewrite(e, swap); }, [&](const NameUse& n) { return rewrite(n, swap); });
  }

  Program& program_;
  Chain& chain_;
  Diagnostics& diagnostics_;
};

}  // namespace

void stage_indices(Program& program, Diagnostics& diagnostics) {
  for_each_chain(program, [&](Chain& chain) {
    std::vector<std::unique_ptr<Block>> staged;
    Staging staging(program, chain, diagnostics);
    const auto add = [&](std::unique_ptr<Block> block) {
      for (auto& eval : staging.before(*block)) staged.push_back(std::move(eval));
      staged.push_back(std::move(block));
    };
    if (chain.locator != nullptr && chain.locator->reads) {
      auto place = std::make_unique<Block>();
      place->locate = std::move(chain.locator);
      chain.locator = nullptr;
      add(std::move(place));
    }
    for (auto& block : chain.blocks) add(std::move(block));
    chain.blocks = std::move(staged);
  });
}

}  // namespace tessera::compiler::block
