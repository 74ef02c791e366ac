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
ExprPtr variable(const Variable* v) {
  auto e = std::make_shared<Expr>();
  e->kind = Expr::Kind::variable;
  e->variable = v;
  return e;
}

class FindingMakers {
 public:
  explicit FindingMakers(Program& program) : program_(program) {}

  void run() {
    for (auto& sub : program_.subs) chain(*sub, {});
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
    // Indices that no loop runs through, and what those of the others run through at most.
    struct Bounds {
      std::optional<Sum> first, last;
      bool fixed = false;
    };
    std::vector<Bounds> bounds;
    ExprPtr locator;
  };
  struct Loop {
    const Variable* counter;
    ExprPtr first, last;  // null: of a while
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
        if (spawn->owned != nullptr) chain(*spawn->owned, spawn->arguments);
      }
    }
  }

  void chain(Chain& c, const std::vector<semantics::Argument>& arguments) {
    for (auto& b : c.blocks) {
      if (c.locator != nullptr) {
        for (std::size_t k = 0; k < b->inputs.size(); ++k) readers_.push_back({&c, b.get(), k});
      }
      unknown(b->deletes);
      const auto outputs = b->outputs();
      for (std::size_t k = 0; k < outputs.size(); ++k) assigned(c, *b, *outputs[k], k);
      if (!b->body) continue;
      const bool range = b->kind == Kind::range, counts = range || b->kind == Kind::loop;
      if (counts)
        path_.push_back({b->counter, range ? arguments[0].value : nullptr, range ? arguments[1].value : nullptr});
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
    const std::vector<Loop> inner(path_.begin() + static_cast<std::ptrdiff_t>(depth), path_.end());
    const auto loop_of = [&](const Variable* v) {
      return std::find_if(inner.begin(), inner.end(), [v](const Loop& loop) { return loop.counter == v; });
    };
    const auto is_inner = [&](const Variable* v) { return loop_of(v) != inner.end(); };
    a.bounds.resize(n.indices.size());
    for (std::size_t k = 0; k < n.indices.size(); ++k) {
      auto s = sum_of(*n.indices[k]);
      if (!s || s->constant != static_cast<std::int32_t>(s->constant)) continue;
      const auto running = [&](const auto& term) { return is_inner(term.first); };
      const auto count = std::count_if(s->terms.begin(), s->terms.end(), running);
      if (count == 0) a.bounds[k] = {s, s, true};
      if (count != 1) continue;
      const auto at = std::find_if(s->terms.begin(), s->terms.end(), running);
      const auto [counter, factor] = *at;
      if (factor != 1 && factor != -1) continue;
      s->terms.erase(at);
      if (const Loop& loop = *loop_of(counter); factor == 1 && loop.first != nullptr) {
        const auto shifted = [&](const ExprPtr& bound) {
          auto sum = sum_of(*bound);
          if (sum) sum->add(*s, 1);
          return sum;
        };
        a.bounds[k] = {shifted(loop.first), shifted(loop.last), false};
      }
      a.solved.push_back({counter, k, factor, std::move(*s)});
    }
    // The locator may ask for what is solved, and for what is the same wherever the name is known.
    bool right = true;
    const auto look = [&](const auto& self, const Expr& e) -> void {
      if (e.kind == Expr::Kind::input || e.kind == Expr::Kind::read) right = false;
      if (const Variable* v = e.variable) {
        const bool solved =
            std::any_of(a.solved.begin(), a.solved.end(), [v](const auto& s) { return s.counter == v; });
        if (v->letter != 'i' || v->kind == Variable::Kind::temporary || (is_inner(v) && !solved)) right = false;
      }
      for (const ExprPtr& k : e.kids) self(self, *k);
    };
    look(look, *a.locator);
    return right ? std::optional(std::move(a)) : std::nullopt;
  }

  void read(const Reader& r) {
    if (r.block->is_sent(r.input)) return;
    const NameUse& n = r.block->inputs[r.input].name;
    const auto it = names_.find(n.base);
    if (it == names_.end() || !it->second.known) return;
    Maker maker = maker_of(n, it->second, r.chain->locator);
    if (maker.place == nullptr) return;
    r.block->makers.resize(r.block->inputs.size());
    r.block->makers[r.input] = std::move(maker);
    for (const Assigner& a : it->second.assigners) {
      if (a.dimensions == n.indices.size()) a.block->awaited |= std::uint64_t{1} << a.output;
    }
  }

  // Where the element is made. Calls that are placed differently, and of which one has assigned it, must be told from
  // each other by their fixed indices, one after the other.
  static Maker maker_of(const NameUse& n, const OfName& name, const ExprPtr& locator) {
    struct Call {
      const Assigner* assigner;
      ExprPtr place;
    };
    std::vector<Call> calls, told;
    for (const Assigner& a : name.assigners) {
      if (a.dimensions != n.indices.size()) continue;
      calls.push_back({&a, placed(a, n)});
      if (calls.back().place == nullptr) return {};
    }
    Maker maker;
    while (!calls.empty()) {
      ExprPtr unless;
      const auto differs_from_all = [&](const Call& call) {
        unless = nullptr;
        return std::all_of(calls.begin(), calls.end(), [&](const Call& other) {
          return equal(call.place, other.place) || apart(*call.assigner, *other.assigner, unless);
        });
      };
      const auto next = std::find_if(calls.begin(), calls.end(), differs_from_all);
      if (next == calls.end()) return {};
      if (unless != nullptr)
        maker.unless = maker.unless == nullptr ? unless : binary(Operator::lor, maker.unless, unless);
      told.push_back(*next);
      calls.erase(next);
    }
    // What never meets would be sent where hardly anybody reads it.
    if (std::none_of(told.begin(), told.end(), [&](const Call& call) { return may_meet(call.place, locator); }))
      return {};
    for (auto call = told.rbegin(); call != told.rend(); ++call) {
      const bool same = maker.place == nullptr || equal(maker.place, call->place);
      maker.place = same ? call->place : choice(is_of(*call->assigner, n), call->place, maker.place);
    }
    return maker;
  }

  // Does `other` assign none of the elements that have the fixed indices of `single`? If it does only where some of
  // them are equal, that is added to `unless`.
  static bool apart(const Assigner& single, const Assigner& other, ExprPtr& unless) {
    const auto positive = [](std::optional<Sum> a, const std::optional<Sum>& b) {
      if (!a || !b) return false;
      a->add(*b, -1);
      return a->terms.empty() && a->constant > 0;
    };
    std::size_t both = single.bounds.size();
    for (std::size_t k = 0; k < single.bounds.size(); ++k) {
      const Assigner::Bounds &a = single.bounds[k], &b = other.bounds[k];
      if (!a.fixed) continue;
      if (positive(a.first, b.last) || positive(b.first, a.last)) return true;
      if (b.fixed && *a.first != *b.first) both = k;
    }
    if (both == single.bounds.size()) return false;
    const ExprPtr same = binary(Operator::eq, written(*single.bounds[both].first), written(*other.bounds[both].first));
    unless = unless == nullptr ? same : binary(Operator::lor, unless, same);
    return true;
  }
  static ExprPtr written(const Sum& sum) {
    ExprPtr e = number(sum.constant);
    for (const auto& [v, factor] : sum.terms)
      e = binary(Operator::add, e, binary(Operator::mul, number(factor), variable(v)));
    return e;
  }
  // Has the element the fixed indices of the call?
  static ExprPtr is_of(const Assigner& a, const NameUse& element) {
    ExprPtr all;
    for (std::size_t k = 0; k < a.bounds.size(); ++k) {
      if (!a.bounds[k].fixed) continue;
      const ExprPtr same = binary(Operator::eq, element.indices[k], written(*a.bounds[k].first));
      all = all == nullptr ? same : binary(Operator::land, all, same);
    }
    return all;
  }

  // Two calls that are often placed on one rank: their places depend on the same.
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
  std::vector<Loop> path_;  // the loops around
  std::map<const Variable*, OfName, ById> names_;
  std::vector<Reader> readers_;
};

}  // namespace

void find_makers(Program& program, Diagnostics&) { FindingMakers(program).run(); }

}  // namespace tessera::compiler::block
