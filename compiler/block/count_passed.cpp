#include "compiler/block/count_passed.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "compiler/analysis/decide.hpp"
#include "compiler/block/walk.hpp"
#include "compiler/semantics/expression.hpp"

namespace tessera::compiler::block {
namespace {

using semantics::Expr;

bool has_input(const Expr& e) {
  return e.kind == Expr::Kind::input || e.kind == Expr::Kind::read ||
         std::any_of(e.kids.begin(), e.kids.end(), [](const ExprPtr& kid) { return has_input(*kid); });
}

class CountPassed {
 public:
  explicit CountPassed(Program& program) : program_(program) {}

  void run() {
    for (auto& sub : program_.subs) chain(*sub, nullptr);
    // What subs call each other with, in rings: all are taken to assign once, until one is seen not to.
    for (const auto& [v, n] : names_) {
      if (n.declared_in == nullptr && is_made(n)) makers_.insert(v);
    }
    while (std::erase_if(makers_, [&](const Variable* v) { return !passes_on(names_.at(v)); }) != 0) {}
    for (auto& [v, n] : names_) {
      if (counts(v, n)) count(v, n);
    }
  }

 private:
  // What stands between a sub's beginning and a place in it.
  struct Around {
    ExprPtr condition;  // null: nobody knows
    bool repeats = false;
  };
  using Path = std::vector<Around>;
  struct OfName {
    const Body* declared_in = nullptr;  // null: a parameter
    std::size_t depth = 0;              // of the path there
    bool other = false;                 // something else is done with it
    std::vector<Path> made;             // where it is assigned, or passed,
    std::vector<const Variable*> passed_as;
    std::vector<Uses::Reader> readers;
    Path read;  // by the last of them
  };

  OfName& of(const NameUse& n) {
    OfName& name = names_[n.base];
    name.other = name.other || !n.indices.empty();
    return name;
  }
  void other(const NameUse& n) { names_[n.base].other = true; }
  template <class List>
  void others(const List& list) {
    for (const auto& n : list) {
      if constexpr (requires { n.name; }) {
        other(n.name);
      } else {
        other(n);
      }
    }
  }

  void chain(const Chain& c, const Spawn* spawn) {
    const std::size_t before = path_.size();
    const bool made_by_all = c.spreads || (spawn != nullptr && spawn->rank != nullptr);
    if (c.kind == Kind::loop || made_by_all) path_.push_back({nullptr, true});
    for (const auto& b : c.blocks) {
      if (b->last != nullptr) path_.push_back({nullptr, true});
      block(*b);
      if (b->kind == Kind::eval && b->condition != nullptr) path_.push_back({});
    }
    path_.resize(before);
  }

  void block(Block& b) {
    for (std::size_t k = 0; k < b.inputs.size(); ++k) {
      OfName& n = of(b.inputs[k].name);
      n.other = n.other || b.inputs[k].when != nullptr;
      n.read = path_;
      Uses::Reader r;
      r.name = b.inputs[k].name;
      r.block = &b;
      r.input = k;
      n.readers.push_back(std::move(r));
    }
    if (b.call) {
      for (const semantics::Argument& a : b.call->arguments) {
        if (a.type == semantics::ParameterType::name) of(a.name).made.push_back(path_);
      }
    }
    others(b.counts);
    others(b.out);
    others(b.done);
    others(b.deletes);
    others(b.otherwise);
    others(b.each_turn);
    if (!b.body) return;
    if (b.kind == Kind::eval || b.kind == Kind::sub) return body(*b.body);
    inside(b.kind == Kind::branch ? around(b.condition) : Around{nullptr, true}, *b.body);
  }

  static Around around(const ExprPtr& condition) {
    const bool known = condition != nullptr && !has_input(*condition);
    return {known ? condition : nullptr, false};
  }
  void inside(Around a, const Body& b) {
    path_.push_back(std::move(a));
    body(b);
    path_.pop_back();
  }

  void body(const Body& b) {
    for (const Declared& d : b.names) {
      OfName& n = names_[d.variable];
      n.declared_in = &b;
      n.depth = path_.size();
      n.other = d.variable->counted || program_.uses.count(d.variable) != 0 || program_.swept.count(d.variable) != 0 ||
                program_.held.count(d.variable) != 0;
    }
    others(b.deletes);
    others(b.holds);
    for (const Step& step : b.steps) {
      if (const auto* spawn = std::get_if<Spawn>(&step)) {
        call(*spawn);
      } else if (const auto* reads = std::get_if<CountReads>(&step)) {
        other(reads->name);
      } else if (const auto* when = std::get_if<std::unique_ptr<When>>(&step)) {
        if ((*when)->condition == nullptr) {
          body((*when)->body);
        } else {
          inside(around((*when)->condition), (*when)->body);
        }
      }
    }
  }

  void call(const Spawn& s) {
    for (std::size_t k = 0; k < s.arguments.size(); ++k) {
      const semantics::Argument& a = s.arguments[k];
      if (a.type != semantics::ParameterType::name) continue;
      OfName& n = of(a.name);
      n.other = n.other || s.owned != nullptr || s.rank != nullptr;
      n.made.push_back(path_);
      n.passed_as.push_back(s.chain->parameters[k]);
    }
    others(s.done);
    others(s.deletes);
    others(s.holds);
    others(s.counts);
    if (s.owned != nullptr) chain(*s.owned, &s);
  }

  bool is_made(const OfName& n) const {
    if (n.other || (n.declared_in == nullptr && !n.readers.empty())) return false;
    for (std::size_t i = 0; i < n.made.size(); ++i) {
      const auto from = n.made[i].begin() + static_cast<std::ptrdiff_t>(n.depth);
      if (std::any_of(from, n.made[i].end(), [](const Around& a) { return a.repeats; })) return false;
      for (std::size_t j = 0; j < i; ++j) {
        if (!either_or(n.made[i], n.made[j])) return false;
      }
    }
    return true;
  }
  bool passes_on(const OfName& n) const {
    return std::all_of(n.passed_as.begin(), n.passed_as.end(),
                       [&](const Variable* p) { return makers_.count(p) != 0; });
  }
  // Of one call of the sub.
  static bool is_never(const Path& path, const ExprPtr& and_this) {
    ExprPtr all = and_this;
    for (const Around& around : path) {
      if (around.condition != nullptr) all = binary(syntax::Operator::land, around.condition, all);
    }
    return analysis::Decider().decide(*all) == analysis::Truth::never;
  }
  static bool either_or(const Path& a, const Path& b) {
    Path both = a;
    both.insert(both.end(), b.begin(), b.end());
    return std::any_of(both.begin(), both.end(), [](const Around& x) { return x.condition != nullptr; }) &&
           is_never(both, semantics::make_integer(1, {}));
  }
  // Where it is assigned, it is read.
  static bool is_read_always(const OfName& n) {
    return std::all_of(n.read.begin() + static_cast<std::ptrdiff_t>(n.depth), n.read.end(), [&](const Around& around) {
      if (around.condition == nullptr || around.repeats) return false;
      const ExprPtr not_read =
          binary(syntax::Operator::eq, around.condition, semantics::make_integer(0, around.condition->at));
      return std::all_of(n.made.begin(), n.made.end(), [&](const Path& made) { return is_never(made, not_read); });
    });
  }

  bool counts(const Variable* v, const OfName& n) const {
    return n.declared_in != nullptr && program_.parts.count(v) == 0 && !n.passed_as.empty() && n.readers.size() == 1 &&
           is_made(n) && passes_on(n) && is_read_always(n);
  }
  void count(const Variable* v, OfName& n) {
    Uses u;
    u.readers = std::move(n.readers);
    program_.uses[v].push_back(std::move(u));
  }

  Program& program_;
  Path path_;
  std::map<const Variable*, OfName, ById> names_;
  std::set<const Variable*, ById> makers_;  // parameters: the sub assigns them, once, and that is all
};

}  // namespace

void count_passed(Program& program, Diagnostics&) { CountPassed(program).run(); }

}  // namespace tessera::compiler::block
