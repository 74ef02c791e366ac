#include "compiler/block/hold_deletes.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/block/find_carried.hpp"
#include "compiler/block/meet.hpp"
#include "compiler/block/sum.hpp"
#include "compiler/block/walk.hpp"

namespace tessera::compiler::block {
namespace {

using semantics::Expr;
using Variables = std::set<const Variable*, ById>;

// A statement that would hold a name with more different indices holds what these have in common.
constexpr std::size_t kMostHolds = 4;

// Access: one use of a name somewhere under a statement.
struct Access {
  NameUse name;
  bool deletes = false;
  bool in_loop = false;              // with a `for` between the statement and it
  std::vector<ExprPtr> guards = {};  // conditions under which it is made; not all of them
};

// What a sub does with a parameter that is a name: with those indices that its int parameters tell.
using Summary = std::vector<Access>;

bool repeats(const Chain& c) { return c.kind == Kind::range || c.last().last != nullptr; }

class Holding {
 public:
  explicit Holding(Program& program) : program_(program) {}

  void run() {
    if (!any_deletes()) return;
    for (bool changed = true; changed;) {
      const std::size_t before = program_.parts.size();
      for (auto& sub : program_.subs) join(*sub);
      changed = program_.parts.size() > before;
    }
    summarise();
    for (auto& sub : program_.subs) deletes(*sub, false, looped(*sub, false));
    for (auto& sub : program_.subs) blocks(*sub, {}, {});
    for (const Variable* v : held_classes_) {
      for (const auto& [variable, other] : class_) {
        if (of(variable) == v) program_.held.insert(variable);
      }
      program_.held.insert(v);
    }
  }

 private:
  bool any_deletes() {
    bool any = false;
    const auto in = [&](const auto& self, const Body& b) -> void {
      any = any || !b.deletes.empty();
      for (const Step& step : b.steps) {
        if (const auto* when = std::get_if<std::unique_ptr<When>>(&step)) self(self, (*when)->body);
        if (const auto* spawn = std::get_if<Spawn>(&step)) any = any || !spawn->deletes.empty();
      }
    };
    for_each_chain(program_, [&](Chain& c) {
      for (auto& b : c.blocks) {
        any = any || !b->deletes.empty();
        if (b->body) in(in, *b->body);
      }
    });
    return any;
  }

  // ---- names that may be one: what is passed to a sub, and its parameter

  const Variable* of(const Variable* v) const {
    for (auto at = class_.find(v); at != class_.end(); at = class_.find(v)) v = at->second;
    return v;
  }
  void join(Chain& c) {
    const auto in = [&](const auto& self, Body& b) -> void {
      for (Step& step : b.steps) {
        if (auto* when = std::get_if<std::unique_ptr<When>>(&step)) self(self, (*when)->body);
        auto* spawn = std::get_if<Spawn>(&step);
        if (spawn == nullptr) continue;
        for_passed(*spawn, [&](const NameUse& n, const Variable* parameter) {
          if (of(n.base) != of(parameter)) class_[of(parameter)] = of(n.base);
          if (!n.indices.empty() || program_.parts.count(n.base) != 0) program_.parts.insert(parameter);
        });
        if (spawn->owned != nullptr) join(*spawn->owned);
      }
    };
    for (auto& b : c.blocks) {
      if (b->body) in(in, *b->body);
    }
  }
  template <class F>
  static void for_passed(const Spawn& s, F f) {
    for (std::size_t k = 0; k < s.arguments.size(); ++k) {
      if (s.arguments[k].type == semantics::ParameterType::name) f(s.arguments[k].name, s.chain->parameters[k]);
    }
  }

  // ---- what is read and deleted under a statement

  void summarise() {
    for (bool changed = true; changed;) {
      changed = false;
      for (auto& sub : program_.subs) {
        std::vector<Access> all;
        Variables own;
        collect(*sub, false, all, own);
        for (const Variable* p : sub->parameters) own.erase(p);
        for (const Variable* p : sub->parameters) {
          Summary now = summary_of(p, all, own);
          if (same(now, summaries_[p])) continue;
          summaries_[p] = std::move(now);
          changed = true;
        }
      }
    }
  }
  static Summary summary_of(const Variable* p, const std::vector<Access>& all, const Variables& own) {
    Summary out;
    for (const bool deletes : {false, true}) {
      for (const bool in_loop : {false, true}) {
        std::vector<NameUse> names;
        for (const Access& a : all) {
          if (a.name.base == p && a.deletes == deletes && a.in_loop == in_loop) add(names, known_part(a.name, own));
        }
        if (names.size() > kMostHolds) names = {common_part(names)};
        for (NameUse& n : names) out.push_back({std::move(n), deletes, in_loop});
      }
    }
    return out;
  }
  static bool same(const Summary& a, const Summary& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Access& x, const Access& y) {
      const std::size_t n = x.name.indices.size();
      return x.deletes == y.deletes && x.in_loop == y.in_loop && n == y.name.indices.size() &&
             same_part(x.name, y.name) == n;
    });
  }
  static NameUse common_part(const std::vector<NameUse>& names) {
    NameUse common = names.front();
    for (const NameUse& n : names) common.indices.resize(same_part(common, n));
    return common;
  }

  // What the sub does with a part of its parameter is done with a part of what is passed: as far as its indices are
  // known before there are data.
  static NameUse passed_part(const NameUse& passed, const NameUse& of_parameter, const Spawn& call) {
    NameUse out = passed;
    for (const ExprPtr& i : of_parameter.indices) {
      ExprPtr given = with_arguments(i, call);
      if (!sum_of(*given) || needs_data(*given)) break;
      out.indices.push_back(std::move(given));
    }
    return out;
  }
  static ExprPtr with_arguments(const ExprPtr& e, const Spawn& call) {
    const auto& parameters = call.chain->parameters;
    const auto at = std::find(parameters.begin(), parameters.end(), e->variable);
    if (e->kind == Expr::Kind::variable && at != parameters.end())
      return call.arguments[static_cast<std::size_t>(at - parameters.begin())].value;
    if (e->kids.empty()) return e;
    auto copy = std::make_shared<Expr>(*e);
    for (ExprPtr& k : copy->kids) k = with_arguments(k, call);
    return copy;
  }

  // `bound`: what is a variable only in there.
  void collect(const Chain& c, bool in_loop, std::vector<Access>& out, Variables& bound,
               const std::vector<ExprPtr>& guards = {}) const {
    bound.insert(c.parameters.begin(), c.parameters.end());
    bound.insert(c.temporaries.begin(), c.temporaries.end());
    in_loop = in_loop || repeats(c);
    for (const auto& b : c.blocks) {
      if (b->counter != nullptr) bound.insert(b->counter);
      for (const Input& in : b->inputs) out.push_back({in.name, false, in_loop, guards});
      for (const NameUse& n : b->deletes) out.push_back({n, true, in_loop, guards});
      if (b->body) collect(*b->body, in_loop, out, bound, guards);
    }
  }
  void collect(const Body& b, bool in_loop, std::vector<Access>& out, Variables& bound,
               const std::vector<ExprPtr>& guards = {}) const {
    for (const Declared& d : b.names) bound.insert(d.variable);
    for (const NameUse& n : b.deletes) out.push_back({n, true, in_loop, guards});
    for (const Step& step : b.steps) {
      if (const auto* when = std::get_if<std::unique_ptr<When>>(&step)) {
        std::vector<ExprPtr> more = guards;
        if ((*when)->condition != nullptr) more.push_back((*when)->condition);
        collect((*when)->body, in_loop, out, bound, more);
      }
      if (const auto* spawn = std::get_if<Spawn>(&step)) collect(*spawn, in_loop, out, bound, guards);
    }
  }
  void collect(const Spawn& s, bool in_loop, std::vector<Access>& out, Variables& bound,
               const std::vector<ExprPtr>& guards = {}) const {
    for (const NameUse& n : s.deletes) out.push_back({n, true, in_loop, guards});
    for_passed(s, [&](const NameUse& n, const Variable* parameter) {
      const auto at = summaries_.find(parameter);
      if (at == summaries_.end()) return;
      for (const Access& a : at->second)
        out.push_back({passed_part(n, a.name, s), a.deletes, in_loop || (a.in_loop && !a.deletes), guards});
    });
    if (s.owned != nullptr) collect(*s.owned, in_loop, out, bound, guards);
  }

  // ---- deletes that may come before a reader in a loop

  std::vector<Access> looped(const auto& where, bool in_loop) const {
    std::vector<Access> all;
    Variables own;
    collect(where, in_loop, all, own);
    std::erase_if(all, [](const Access& a) { return a.deletes || !a.in_loop; });
    return all;
  }
  // Behind a block, or a call of a sub, all has finished that is under it; so there need be readers in loops elsewhere.
  void behind(const NameUse& n, const std::vector<Access>& under, const std::vector<Access>& all) {
    const auto under_it = std::count_if(under.begin(), under.end(), [&](const Access& a) {
      return a.name.base == n.base && same_part(a.name, n) == n.indices.size();
    });
    const auto anywhere = std::count_if(all.begin(), all.end(), [&](const Access& a) { return a.name.base == n.base; });
    if (n.base->kind == Variable::Kind::parameter || anywhere > under_it) deleted_.insert(of(n.base));
  }
  void deletes(const Chain& c, bool in_loop, const std::vector<Access>& all) {
    in_loop = in_loop || repeats(c);
    for (const auto& b : c.blocks) {
      for (const NameUse& n : b->deletes) deleted_.insert(of(n.base));
      if (b->body) deletes(*b->body, in_loop, all);
    }
  }
  void deletes(const Body& b, bool in_loop, const std::vector<Access>& all) {
    for (const NameUse& n : b.deletes) behind(n, looped(b, in_loop), all);
    for (const Step& step : b.steps) {
      if (const auto* when = std::get_if<std::unique_ptr<When>>(&step)) deletes((*when)->body, in_loop, all);
      const auto* spawn = std::get_if<Spawn>(&step);
      if (spawn == nullptr) continue;
      for (const NameUse& n : spawn->deletes) behind(n, looped(*spawn, in_loop), all);
      if (spawn->owned != nullptr) deletes(*spawn->owned, in_loop, all);
    }
  }

  // ---- who holds

  // Names that statements around hold already, and those of which every statement holds what it reads.
  void blocks(Chain& c, const Variables& covered, const Variables& forced) {
    for (auto& b : c.blocks) {
      if (b->body) body(*b->body, {}, covered, forced);
    }
  }

  // `around`: the bodies that run in place around this one, outermost first.
  void body(Body& b, std::vector<Body*> around, const Variables& covered, const Variables& forced) {
    around.push_back(&b);
    for (Step& step : b.steps) {
      if (auto* when = std::get_if<std::unique_ptr<When>>(&step)) body((*when)->body, around, covered, forced);
      if (auto* spawn = std::get_if<Spawn>(&step)) statement(*spawn, around, covered, forced);
    }
    for (std::size_t k = 1; k < b.steps.size(); ++k) {
      auto *yes = std::get_if<Spawn>(&b.steps[k - 1]), *no = std::get_if<Spawn>(&b.steps[k]);
      if (yes == nullptr || no == nullptr || !no->otherwise) continue;
      beside(*yes, *no, around, covered);
      beside(*no, *yes, around, covered);
    }
  }

  // Of an `if` and its `else`: what the one deletes the other has to read, to know whether it is to be.
  void beside(const Spawn& deletes, Spawn& reads, const std::vector<Body*>& around, const Variables& covered) {
    std::vector<Access> all;
    Variables bound;
    collect(deletes, false, all, bound);
    std::map<const Variable*, std::vector<Access>, ById> held;
    for (const auto& block : reads.chain->blocks) {
      for (const Input& in : block->inputs) {
        const Variable* v = in.name.base;
        const auto meets = [&](const Access& a) { return a.deletes && of(a.name.base) == of(v); };
        if (covered.count(v) == 0 && std::any_of(all.begin(), all.end(), meets))
          held[v].push_back({in.name, false, false, {}});
      }
    }
    for (const auto& [v, list] : held) {
      std::vector<const Access*> accesses;
      for (const Access& a : list) accesses.push_back(&a);
      hold(reads, around, accesses, {});
    }
  }

  void statement(Spawn& s, const std::vector<Body*>& around, Variables covered, Variables forced) {
    std::vector<Access> all;
    Variables bound;
    collect(s, false, all, bound);
    std::map<const Variable*, std::vector<const Access*>, ById> by_name;
    for (const Access& a : all) {
      const Variable* v = a.name.base;
      if (bound.count(v) == 0 && covered.count(v) == 0 && deleted_.count(of(v)) != 0) by_name[v].push_back(&a);
    }
    for (const auto& [v, list] : by_name) {
      if (must_hold(s, list, bound, forced.count(v) != 0)) {
        if (hold(s, around, list, bound)) covered.insert(v);
      } else if (s.owned != nullptr && s.owned->kind == Kind::range && meets(*s.owned, list, bound)) {
        forced.insert(v);
      }
    }
    if (s.owned != nullptr) blocks(*s.owned, covered, forced);
  }

  bool must_hold(const Spawn& s, const std::vector<const Access*>& list, const Variables& bound, bool forced) const {
    const auto any = [&](const auto& f) {
      return std::any_of(list.begin(), list.end(), [&](const Access* a) { return f(*a); });
    };
    if (!any([](const Access& a) { return !a.deletes; })) return false;
    if (forced) return true;
    const bool deletes = any([](const Access& a) { return a.deletes; });
    if (s.owned != nullptr && repeats(*s.owned)) {
      return !deletes ||
             (s.owned->kind == Kind::range && meets(*s.owned, list, bound) && !runs_in_order(s.owned->last()));
    }
    // What waits for data, or goes on when data say so, is not there yet; a sub is.
    const bool calls = s.owned == nullptr || s.owned->kind == Kind::eval;
    return calls && !deletes && any([](const Access& a) { return !a.deletes && a.in_loop; }) && !waits_in_steps(s);
  }

  static bool waits_in_steps(const Spawn& s) {
    if (s.owned == nullptr) return false;
    if (s.owned->kind == Kind::loop || s.owned->kind == Kind::branch) return true;
    if (s.owned->kind != Kind::eval || !s.owned->last().body) return false;
    const auto& steps = s.owned->last().body->steps;
    return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
      const auto* inner = std::get_if<Spawn>(&step);
      return inner != nullptr && waits_in_steps(*inner);
    });
  }

  static bool meets(const Chain& range, const std::vector<const Access*>& list, const Variables& bound) {
    return meets_itself(range, list, bound) || meets_its_like(list, bound);
  }
  // Does it read another row than it deletes? The same loop in another turn of a `while`, or in another call, may
  // delete what it reads.
  static bool meets_its_like(const std::vector<const Access*>& list, const Variables& bound) {
    for (const Access* d : list) {
      for (const Access* r : list) {
        if (d->deletes && !r->deletes && other_row(d->name, r->name, bound)) return true;
      }
    }
    return false;
  }
  static bool other_row(const NameUse& d, const NameUse& r, const Variables& bound) {
    const auto of_all = [&](const std::optional<Sum>& s) {
      return s &&
             std::none_of(s->terms.begin(), s->terms.end(), [&](const auto& t) { return bound.count(t.first) != 0; });
    };
    for (std::size_t k = 0; k < std::min(d.indices.size(), r.indices.size()); ++k) {
      const auto a = sum_of(*d.indices[k]), b = sum_of(*r.indices[k]);
      if (of_all(a) && of_all(b) && !(*a == *b)) return true;
    }
    return false;
  }

  // May one iteration of the loop delete what another one reads?
  static bool meets_itself(const Chain& range, const std::vector<const Access*>& list, const Variables& bound) {
    const Variable* counter = range.last().counter;
    for (const Access* d : list) {
      for (const Access* r : list) {
        if (d->deletes && !r->deletes && !apart(d->name, r->name, counter, bound) &&
            !never_meet({d->name, d->guards}, {r->name, r->guards}, counter,
                        [&](const Variable* v) { return bound.count(v) != 0; }))
          return true;
      }
    }
    return false;
  }
  // Some index shows that they are never the same element, or only in one iteration.
  static bool apart(const NameUse& d, const NameUse& r, const Variable* counter, const Variables& bound) {
    for (std::size_t k = 0; k < std::min(d.indices.size(), r.indices.size()); ++k) {
      const auto a = sum_of(*d.indices[k]), b = sum_of(*r.indices[k]);
      if (!a || !b) continue;
      const auto steady = [&](const Sum& s) {
        return std::all_of(s.terms.begin(), s.terms.end(),
                           [&](const auto& t) { return t.first == counter || bound.count(t.first) == 0; });
      };
      if (!steady(*a) || !steady(*b)) continue;
      if (a->terms.count(counter) != 0 ? *a == *b : a->terms == b->terms && a->constant != b->constant) return true;
    }
    return false;
  }

  bool hold(Spawn& s, const std::vector<Body*>& around, const std::vector<const Access*>& list,
            const Variables& bound) {
    std::vector<NameUse> names;
    for (const Access* a : list) {
      if (a->deletes) continue;
      // Which element it reads is not known before there are data, as with a reader that is in no loop. All of the
      // name, which it would have to hold till then, is what long iterations delete to keep memory flat (`x[steps][i]`
      // behind a `while`).
      NameUse known = known_part(a->name, bound);
      if (!known.indices.empty() || a->name.indices.empty() || !needs_data(*a->name.indices.front()))
        add(names, std::move(known));
    }
    if (names.empty()) return false;
    if (names.size() > kMostHolds) names = {common_part(names)};
    // Until all that is created along with it is there, too.
    const auto declares = [&](const Body* b) {
      return std::any_of(b->names.begin(), b->names.end(),
                         [&](const Declared& d) { return d.variable == names.front().base; });
    };
    const auto found = std::find_if(around.rbegin(), around.rend(), declares);
    Body* level = found == around.rend() ? around.front() : *found;
    add(level->holds, {names.front().base, {}, names.front().at});
    for (NameUse& n : names) s.holds.push_back(std::move(n));
    held_classes_.insert(of(s.holds.back().base));
    return true;
  }

  static bool needs_data(const Expr& e) {
    if (e.kind == Expr::Kind::input || e.kind == Expr::Kind::read) return true;
    if (e.variable != nullptr && e.variable->kind == Variable::Kind::temporary) return true;
    return std::any_of(e.kids.begin(), e.kids.end(), [](const ExprPtr& k) { return needs_data(*k); });
  }

  // Adds a name unless it, or what it is part of, is there; takes out what is part of it.
  static void add(std::vector<NameUse>& list, NameUse n) {
    const auto part_of = [](const NameUse& part, const NameUse& whole) {
      return part.base == whole.base && part.indices.size() >= whole.indices.size() &&
             same_part(part, whole) == whole.indices.size();
    };
    if (std::any_of(list.begin(), list.end(), [&](const NameUse& x) { return part_of(n, x); })) return;
    std::erase_if(list, [&](const NameUse& x) { return part_of(x, n); });
    list.push_back(std::move(n));
  }
  static std::size_t same_part(const NameUse& a, const NameUse& b) {
    std::size_t k = 0;
    while (k < a.indices.size() && k < b.indices.size() && equal(a.indices[k], b.indices[k])) ++k;
    return k;
  }
  // The name with the first of its indices that are known where the statement is created.
  static NameUse known_part(NameUse n, const Variables& bound) {
    const auto known = [&](const auto& self, const Expr& e) -> bool {
      if (e.kind == Expr::Kind::input || e.kind == Expr::Kind::read) return false;
      if (e.variable != nullptr && bound.count(e.variable) != 0) return false;
      return std::all_of(e.kids.begin(), e.kids.end(), [&](const ExprPtr& k) { return self(self, *k); });
    };
    // Sums only: what divides may stand behind a condition that has not been asked yet.
    const auto end = std::find_if_not(n.indices.begin(), n.indices.end(),
                                      [&](const ExprPtr& i) { return sum_of(*i) && known(known, *i); });
    n.indices.erase(end, n.indices.end());
    return n;
  }

  Program& program_;
  std::map<const Variable*, const Variable*, ById> class_;  // towards the one that stands for all
  std::map<const Variable*, Summary, ById> summaries_;      // of parameters
  Variables deleted_, held_classes_;                        // of those that stand for all
};

}  // namespace

void hold_deletes(Program& program, Diagnostics&) { Holding(program).run(); }

}  // namespace tessera::compiler::block
