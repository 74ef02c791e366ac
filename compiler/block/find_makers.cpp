#include "compiler/block/find_makers.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "compiler/block/sum.hpp"
#include "compiler/block/walk.hpp"

namespace tessera::compiler::block {
namespace {

using semantics::Expr;
using syntax::Operator;

// More assigning calls of one name are not compared.
constexpr std::size_t kMostAssigners = 8;
// The runtime keeps one bit for each output of a call.
constexpr std::size_t kMostOutputs = 64;

ExprPtr number(std::int64_t value) {
  auto e = std::make_shared<Expr>();
  e->integer = static_cast<std::int32_t>(value);
  return e;
}
ExprPtr binary(Operator op, ExprPtr a, ExprPtr b) {
  auto e = std::make_shared<Expr>();
  e->kind = Expr::Kind::binary;
  e->op = op;
  e->kids = {std::move(a), std::move(b)};
  return e;
}
ExprPtr variable(const Variable* v) {
  auto e = std::make_shared<Expr>();
  e->kind = Expr::Kind::variable;
  e->variable = v;
  return e;
}

class Finding {
 public:
  explicit Finding(Program& program) : program_(program) {}

  void run() {
    for (auto& sub : program_.subs) chain(*sub);
    for (const Reader& r : readers_) read(r);
  }

 private:
  // A call that assigns elements of a name: where it is placed, as a function of the element's indices.
  struct Assigner {
    Block* block;
    std::size_t output;
    std::size_t dimensions;
    // counter = factor * (index - rest), factor being 1 or -1.
    struct Solved {
      const Variable* counter;
      std::size_t index;
      std::int64_t factor;
      Sum rest;
    };
    std::vector<Solved> solved;
    ExprPtr locator;
  };
  struct OfName {
    std::size_t depth = 0;  // length of the path where it is declared
    bool known = true;
    std::vector<Assigner> assigners;
  };
  struct Reader {
    const Chain* chain;
    Block* block;
    std::size_t input;
  };

  void unknown(const NameUse& n) {
    if (const auto it = names_.find(n.base); it != names_.end()) it->second.known = false;
  }

  void unknown(const std::vector<NameUse>& list) {
    for (const NameUse& n : list) unknown(n);
  }

  void body(Body& b) {
    for (const Declared& d : b.names) {
      OfName& n = names_[d.variable];
      n.depth = path_.size();
      n.known = !d.variable->counted;
    }
    unknown(b.deletes);
    for (Step& step : b.steps) {
      if (auto* when = std::get_if<std::unique_ptr<When>>(&step)) {
        body((*when)->body);
      } else if (auto* spawn = std::get_if<Spawn>(&step)) {
        for (const semantics::Argument& a : spawn->arguments) {
          if (a.type == semantics::ParameterType::name) unknown(a.name);
        }
        unknown(spawn->done);
        unknown(spawn->deletes);
        if (spawn->owned != nullptr) chain(*spawn->owned);
      }
    }
  }

  void chain(Chain& c) {
    for (auto& b : c.blocks) {
      if (c.locator != nullptr) {
        for (std::size_t k = 0; k < b->inputs.size(); ++k) readers_.push_back({&c, b.get(), k});
      }
      unknown(b->deletes);
      const auto outputs = b->outputs();
      for (std::size_t k = 0; k < outputs.size(); ++k) assigned(c, *b, *outputs[k], k);
      if (!b->body) continue;
      const bool counts = b->kind == Kind::range || b->kind == Kind::loop;
      if (counts) path_.push_back(b->counter);
      body(*b->body);
      if (counts) path_.pop_back();
    }
  }

  void assigned(const Chain& c, Block& b, const NameUse& n, std::size_t output) {
    const auto it = names_.find(n.base);
    if (it == names_.end() || !it->second.known) return;
    auto found = c.kind == Kind::atomic && c.locator != nullptr && b.last == nullptr && output < kMostOutputs
                     ? solve(c, n, it->second.depth)
                     : std::nullopt;
    if (!found || it->second.assigners.size() == kMostAssigners) {
      it->second.known = false;
      return;
    }
    found->block = &b;
    found->output = output;
    it->second.assigners.push_back(std::move(*found));
  }

  std::optional<Assigner> solve(const Chain& c, const NameUse& n, std::size_t depth) const {
    Assigner a{};
    a.dimensions = n.indices.size();
    a.locator = c.locator;
    const std::vector<const Variable*> inner(path_.begin() + static_cast<std::ptrdiff_t>(depth), path_.end());
    const auto is_inner = [&](const Variable* v) { return std::find(inner.begin(), inner.end(), v) != inner.end(); };
    for (std::size_t k = 0; k < n.indices.size(); ++k) {
      auto s = sum_of(*n.indices[k]);
      if (!s) continue;
      const auto running = [&](const auto& term) { return is_inner(term.first); };
      if (std::count_if(s->terms.begin(), s->terms.end(), running) != 1) continue;
      const auto at = std::find_if(s->terms.begin(), s->terms.end(), running);
      const auto [counter, factor] = *at;
      if ((factor != 1 && factor != -1) || s->constant != static_cast<std::int32_t>(s->constant)) continue;
      s->terms.erase(at);
      a.solved.push_back({counter, k, factor, std::move(*s)});
    }
    // The locator may ask for what is solved, and for what is the same wherever the name is known.
    bool right = true;
    const auto look = [&](const auto& self, const Expr& e) -> void {
      if (e.kind == Expr::Kind::input || e.kind == Expr::Kind::read) right = false;
      if (const Variable* v = e.variable) {
        const bool solved = std::any_of(a.solved.begin(), a.solved.end(), [v](const auto& s) { return s.counter == v; });
        if (v->letter != 'i' || v->kind == Variable::Kind::temporary || (is_inner(v) && !solved)) right = false;
      }
      for (const ExprPtr& k : e.kids) self(self, *k);
    };
    look(look, *a.locator);
    return right ? std::optional(std::move(a)) : std::nullopt;
  }

  void read(const Reader& r) {
    const NameUse& n = r.block->inputs[r.input].name;
    const auto it = names_.find(n.base);
    if (it == names_.end() || !it->second.known) return;
    ExprPtr place;
    for (const Assigner& a : it->second.assigners) {
      if (a.dimensions != n.indices.size()) continue;
      const ExprPtr here = placed(a, n);
      if (here == nullptr || (place != nullptr && !equal(place, here))) return;
      place = here;
    }
    if (place == nullptr || !may_meet(place, r.chain->locator)) return;
    r.block->makers.resize(r.block->inputs.size());
    r.block->makers[r.input] = place;
    for (const Assigner& a : it->second.assigners) {
      if (a.dimensions == n.indices.size()) a.block->awaited |= std::uint64_t{1} << a.output;
    }
  }

  // Two calls that are often placed on one rank: their places depend on the same. Else what is moved would be sent where hardly
  // anybody reads it.
  static bool may_meet(const ExprPtr& a, const ExprPtr& b) {
    const auto of = [](const ExprPtr& e) {
      std::set<const Variable*> all;
      const auto add = [&](const auto& self, const Expr& part) -> void {
        if (part.variable != nullptr) all.insert(part.variable);
        for (const ExprPtr& k : part.kids) self(self, *k);
      };
      add(add, *e);
      return all;
    };
    const auto of_a = of(a);
    return of_a == of(b) && (!of_a.empty() || equal(a, b));
  }

  // The locator of whoever assigns this element; null when an index is no int.
  static ExprPtr placed(const Assigner& a, const NameUse& element) {
    bool right = true;
    ExprPtr e = rewrite(a.locator, [&](const ExprPtr& part) -> ExprPtr {
      if (part->kind != Expr::Kind::variable) return nullptr;
      for (const auto& s : a.solved) {
        if (s.counter != part->variable) continue;
        ExprPtr value = element.indices[s.index];
        if (value->type != semantics::Type::integer || value->reads) right = false;
        for (const auto& [v, factor] : s.rest.terms) {
          value = binary(Operator::sub, value, binary(Operator::mul, number(factor), variable(v)));
        }
        if (s.rest.constant != 0) value = binary(Operator::sub, value, number(s.rest.constant));
        return s.factor == 1 ? value : binary(Operator::sub, number(0), value);
      }
      return nullptr;
    });
    return right ? e : nullptr;
  }

  Program& program_;
  std::vector<const Variable*> path_;  // counters of the loops around
  std::map<const Variable*, OfName, ById> names_;
  std::vector<Reader> readers_;
};

}  // namespace

void find_makers(Program& program, Diagnostics&) { Finding(program).run(); }

}  // namespace tessera::compiler::block
