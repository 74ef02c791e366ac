#include "compiler/block/inline_subs.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "compiler/block/sum.hpp"
#include "compiler/block/walk.hpp"
#include "compiler/semantics/expression.hpp"

namespace tessera::compiler::block {
namespace {

using semantics::Argument;
using semantics::Expr;
using semantics::ParameterType;
using semantics::Type;

// So many statements may all copies of a sub have together.
constexpr std::size_t kMostStatements = 64;
// An argument is written wherever its parameter stood; expressions do not become larger than this by it.
constexpr std::uint32_t kMostNodes = 64;
// A statement keeps so many of the calls that it was inlined through, the outermost always: a longer list helps nobody.
constexpr std::size_t kMostCallers = 16;

template <class F>
void for_each_call(Body& body, const F& f) {
  for (Step& step : body.steps) {
    if (auto* when = std::get_if<std::unique_ptr<When>>(&step)) {
      for_each_call((*when)->body, f);
    } else if (auto* spawn = std::get_if<Spawn>(&step)) {
      if (spawn->owned == nullptr) {
        f(*spawn);
      } else if (spawn->owned->last().body) {
        for_each_call(*spawn->owned->last().body, f);
      }
    }
  }
}

std::size_t statements_in(Body& body) {
  std::size_t count = 0;
  for_each_chain(body, [&](Chain&) { ++count; });
  for_each_call(body, [&](Spawn&) { ++count; });
  return count;
}

bool is_plain(const Expr& e) {
  return e.kind == Expr::Kind::integer || e.kind == Expr::Kind::real || e.kind == Expr::Kind::string ||
         e.kind == Expr::Kind::variable;
}

// Can the argument be written in place of the parameter? Ints only if they are sums: other passes understand indices
// and bounds that are sums of variables, as the parameter is one.
bool can_stand_for(const Argument& a, const Variable& parameter) {
  if (argument_reads(a)) return false;
  if (a.type == ParameterType::name) return true;
  const Expr& e = *a.value;
  switch (parameter.letter) {
    case 'i':
      return sum_of(e).has_value();
    case 'r':
      return e.type == Type::integer || e.type == Type::longint || e.type == Type::real;
    case 'l':
      return e.type == Type::integer || e.type == Type::longint;
    case 's':
      return e.type == Type::string && is_plain(e);
    default:
      return e.kind == Expr::Kind::variable && e.variable->letter == parameter.letter;
  }
}

bool has_read_count(const Argument& a) {
  bool any = false;
  const auto in_expr = [&](const ExprPtr& e) {
    reads_in(e, [&](const ExprPtr& r) { any = any || r->name.base->counted; });
  };
  if (a.value != nullptr) in_expr(a.value);
  std::for_each(a.name.indices.begin(), a.name.indices.end(), in_expr);
  return any;
}

// The one call of a kernel that the sub consists of; else null.
Chain* one_call(const Chain& sub) {
  const Body& body = *sub.last().body;
  if (body.steps.size() != 1 || !body.names.empty() || !body.deletes.empty()) return nullptr;
  const auto* spawn = std::get_if<Spawn>(&body.steps[0]);
  if (spawn == nullptr || spawn->owned == nullptr) return nullptr;
  Chain& chain = *spawn->owned;
  const Block& block = chain.last();
  const bool plain =
      block.call && chain.locator == nullptr && block.counts.empty() && block.done.empty() && block.deletes.empty();
  return plain ? &chain : nullptr;
}

// Does the body certainly evaluate the parameter, if only to make fragments?
bool evaluates(const Body& body, const Variable* parameter) {
  std::function<bool(const NameUse&)> in_name;
  const std::function<bool(const ExprPtr&)> in_expr = [&](const ExprPtr& e) {
    if (e->variable == parameter) return true;
    if (e->kind == Expr::Kind::read) return in_name(e->name);
    const bool decides = e->kind == Expr::Kind::choice || (e->kind == Expr::Kind::binary && syntax::is_logic(e->op));
    return decides ? in_expr(e->kids[0]) : std::any_of(e->kids.begin(), e->kids.end(), in_expr);
  };
  in_name = [&](const NameUse& n) {
    return n.base == parameter || std::any_of(n.indices.begin(), n.indices.end(), in_expr);
  };
  const auto in_argument = [&](const Argument& a) {
    return a.type == ParameterType::name ? in_name(a.name) : in_expr(a.value);
  };
  const auto in_list = [&](const std::vector<Argument>& list) {
    return std::any_of(list.begin(), list.end(), in_argument);
  };
  return std::any_of(body.steps.begin(), body.steps.end(), [&](const Step& step) {
    if (const auto* e = std::get_if<Evaluate>(&step)) return in_expr(e->value);
    if (const auto* when = std::get_if<std::unique_ptr<When>>(&step)) {
      return (*when)->condition == nullptr && evaluates((*when)->body, parameter);
    }
    const auto* spawn = std::get_if<Spawn>(&step);
    if (spawn == nullptr) return false;
    if (in_list(spawn->arguments)) return true;
    if (spawn->owned == nullptr || !spawn->owned->last().call) return false;
    const auto& blocks = spawn->owned->blocks;
    const auto in_set = [&](const Set& set) { return in_expr(set.value); };
    return in_list(spawn->owned->last().call->arguments) ||
           std::any_of(blocks.begin(), blocks.end(),
                       [&](const auto& b) { return std::any_of(b->sets.begin(), b->sets.end(), in_set); });
  });
}

// Copy writes the body of a sub as one call of it means it. Nothing is matched, numbered or placed yet.
class Copy {
 public:
  Copy(Program& program, const Diagnostics& diagnostics, const Spawn& call)
      : program_(program), diagnostics_(diagnostics), call_(call) {
    for (std::size_t k = 0; k < call.chain->parameters.size(); ++k) {
      const Variable* p = call.chain->parameters[k];
      Argument a = call.arguments[k];
      if (p->letter == 'r' && a.value->type != Type::real) {
        a.value = semantics::make_cast(Type::real, a.value, a.value->at);
      }
      if (p->letter == 'l' && a.value->type != Type::longint) {
        a.value = semantics::make_cast(Type::longint, a.value, a.value->at);
      }
      if (p->letter == 'i' && argument_reads(a)) {
        const Variable* t = program.temporary('i', "t" + std::to_string(read_first_.size()), a.value->at);
        read_first_.push_back({t, std::exchange(a.value, semantics::make_variable(t, a.value->at))});
      }
      given_[p] = std::move(a);
    }
  }

  // Has some expression become too large?
  bool too_large() const { return too_large_; }
  // Of the one call that the sub consists of: what its ints are that wait for fragments.
  const std::vector<Set>& read_first() const { return read_first_; }

  Body body(const Body& from) {
    Body out;
    for (const Declared& d : from.names) out.names.push_back({fresh(d.variable), d.ordinal});
    out.deletes = names(from.deletes);
    for (const Step& step : from.steps) {
      if (const auto* s = std::get_if<Spawn>(&step)) {
        out.steps.emplace_back(spawn(*s));
      } else if (const auto* c = std::get_if<CountReads>(&step)) {
        out.steps.emplace_back(CountReads{name(c->name), expr(c->count)});
      } else if (const auto* e = std::get_if<Evaluate>(&step)) {
        out.steps.emplace_back(Evaluate{expr(e->value)});
      } else {
        const When& when = *std::get<std::unique_ptr<When>>(step);
        out.steps.emplace_back(std::make_unique<When>(When{when.ordinal, expr(when.condition), body(when.body)}));
      }
    }
    return out;
  }

 private:
  const Variable* fresh(const Variable* v) {
    Variable copy = *v;
    copy.id = program_.next_id++;
    program_.temporaries.push_back(std::move(copy));
    const Variable* result = &program_.temporaries.back();
    if (program_.once.count(v) != 0) program_.once.insert(result);
    renamed_[v] = result;
    return result;
  }
  const Variable* variable(const Variable* v) const {
    const auto it = renamed_.find(v);
    return it == renamed_.end() ? v : it->second;
  }

  NameUse name(const NameUse& n) {
    NameUse out;
    out.at = n.at;
    if (const auto it = given_.find(n.base); it != given_.end()) {
      out.base = it->second.name.base;
      out.indices = it->second.name.indices;
    } else {
      out.base = variable(n.base);
    }
    for (const ExprPtr& i : n.indices) out.indices.push_back(expr(i));
    return out;
  }
  std::vector<NameUse> names(const std::vector<NameUse>& list) {
    std::vector<NameUse> out;
    for (const NameUse& n : list) out.push_back(name(n));
    return out;
  }

  ExprPtr expr(const ExprPtr& e) {
    if (e == nullptr) return nullptr;
    ExprPtr result = rewrite(e, [&](const ExprPtr& part) -> ExprPtr {
      if (part->kind == Expr::Kind::read) return semantics::make_read(name(part->name));
      if (part->kind != Expr::Kind::variable) return nullptr;
      if (const auto it = given_.find(part->variable); it != given_.end()) return it->second.value;
      return semantics::make_variable(variable(part->variable), part->at);
    });
    too_large_ = too_large_ || (result->size > kMostNodes && result->size > e->size);
    return result;
  }

  Argument argument(const Argument& a) {
    Argument out = a;
    if (a.type == ParameterType::name) {
      out.name = name(a.name);
    } else {
      out.value = expr(a.value);
    }
    return out;
  }
  std::vector<Argument> arguments(const std::vector<Argument>& list) {
    std::vector<Argument> out;
    for (const Argument& a : list) out.push_back(argument(a));
    return out;
  }
  std::vector<semantics::ReadCount> counts(const std::vector<semantics::ReadCount>& list) {
    std::vector<semantics::ReadCount> out;
    for (const auto& c : list) out.push_back({name(c.name), expr(c.count)});
    return out;
  }

  Spawn spawn(const Spawn& s) {
    Spawn out;
    out.ordinal = s.ordinal;
    out.otherwise = s.otherwise;
    out.arguments = arguments(s.arguments);
    out.done = names(s.done);
    out.deletes = names(s.deletes);
    out.counts = counts(s.counts);
    out.locator = expr(s.locator);
    out.at = from_library(s.at) ? call_.at : s.at;
    out.chain = s.chain;
    if (s.owned != nullptr) {
      out.owned = chain(*s.owned);
      out.chain = out.owned.get();
    }
    return out;
  }

  bool from_library(Extent at) const { return diagnostics_.in_library(at) && !diagnostics_.in_library(call_.at); }

  std::unique_ptr<Chain> chain(const Chain& c) {
    auto out = std::make_unique<Chain>();
    out->kind = c.kind;
    out->label = c.label;
    out->text = c.text;
    out->at = c.at;
    out->callers = c.callers;
    // Messages name parameters, so they also tell the calls; of what is the library's only the user's.
    out->inlined = c.inlined || !diagnostics_.in_library(c.at) || from_library(c.at);
    if (out->inlined && out->callers.size() < kMostCallers) {
      out->callers.push_back(call_.at);
    } else if (out->inlined) {
      out->callers.back() = call_.at;
    }
    out->locator = expr(c.locator);
    out->stealable = c.stealable;
    for (const Variable* v : c.parameters) out->parameters.push_back(fresh(v));
    for (const Variable* v : c.temporaries) out->temporaries.push_back(fresh(v));
    for (const auto& b : c.blocks) out->blocks.push_back(block(*b));
    return out;
  }

  std::unique_ptr<Block> block(const Block& b) {
    auto out = std::make_unique<Block>();
    out->kind = b.kind;
    for (const Set& set : b.sets) out->sets.push_back({variable(set.variable), expr(set.value)});
    if (b.counter != nullptr) out->counter = b.kind == Kind::range ? fresh(b.counter) : variable(b.counter);
    if (b.call) out->call = KernelCall{b.call->kernel, arguments(b.call->arguments)};
    out->condition = expr(b.condition);
    if (b.body) out->body = body(*b.body);
    out->out = names(b.out);
    out->counts = counts(b.counts);
    out->done = names(b.done);
    out->deletes = names(b.deletes);
    return out;
  }

  Program& program_;
  const Diagnostics& diagnostics_;
  const Spawn& call_;
  std::map<const Variable*, Argument> given_;  // to parameters
  std::map<const Variable*, const Variable*> renamed_;
  std::vector<Set> read_first_;
  bool too_large_ = false;
};

class Inlining {
 public:
  Inlining(Program& program, const Diagnostics& diagnostics) : program_(program), diagnostics_(diagnostics) {}

  void run() {
    for (auto& sub : program_.subs) {
      for_each_call(*sub->last().body, [&](Spawn& call) {
        ++calls_[call.chain];
        callees_[sub.get()].push_back(call.chain);
      });
    }
    for (auto& sub : program_.subs) order(sub.get());
    for (Chain* sub : order_) body(*sub->last().body);
    std::set<const Chain*> called = {program_.subs.front().get()};
    for (auto& sub : program_.subs) {
      for_each_call(*sub->last().body, [&](Spawn& call) { called.insert(call.chain); });
    }
    auto& subs = program_.subs;
    subs.erase(std::remove_if(subs.begin(), subs.end(), [&](const auto& s) { return called.count(s.get()) == 0; }),
               subs.end());
  }

 private:
  // order lists callees before callers, and finds the subs that call themselves through others (Tarjan's algorithm;
  // without recursion, for calls may be nested as deeply as there are subs).
  void order(Chain* root) {
    if (seen_.count(root) != 0) return;
    struct Visit {
      Chain* sub;
      std::vector<Chain*>::const_iterator next;
    };
    std::vector<Visit> path;
    const auto enter = [&](Chain* sub) {
      const auto number = static_cast<std::uint32_t>(seen_.size());
      seen_[sub] = {number, number, true};
      open_.push_back(sub);
      path.push_back({sub, callees_[sub].begin()});
    };
    enter(root);
    while (!path.empty()) {
      Visit& at = path.back();
      Chain* const sub = at.sub;
      if (at.next != callees_[sub].end()) {
        Chain* const to = *at.next++;
        if (to == sub) recursive_.insert(sub);
        const auto known = seen_.find(to);
        if (known == seen_.end()) {
          enter(to);
        } else if (known->second.open) {
          seen_[sub].low = std::min(seen_[sub].low, known->second.number);
        }
        continue;
      }
      path.pop_back();
      if (!path.empty()) seen_[path.back().sub].low = std::min(seen_[path.back().sub].low, seen_[sub].low);
      order_.push_back(sub);
      if (seen_[sub].low == seen_[sub].number) close(sub);
    }
  }
  // close takes the group of subs that all call each other, of which `first` was entered first, from the open ones.
  void close(Chain* first) {
    const bool several = open_.back() != first;
    for (Chain* sub = nullptr; sub != first;) {
      sub = open_.back();
      open_.pop_back();
      seen_[sub].open = false;
      if (several) recursive_.insert(sub);
    }
  }

  bool fits(const Spawn& call) {
    if (call.owned != nullptr || call.locator != nullptr || call.has_end() || !call.counts.empty()) return false;
    Chain& sub = *call.chain;
    if (&sub == program_.subs.front().get() || recursive_.count(&sub) != 0) return false;
    for (std::size_t k = 0; k < sub.parameters.size(); ++k) {
      if (!can_stand_for(call.arguments[k], *sub.parameters[k]) && !can_wait(call, k)) return false;
    }
    return calls_[&sub] * statements_in(*sub.last().body) <= kMostStatements;
  }

  // An argument that waits for fragments, of a sub that is one call: that call waits for them as well.
  static bool can_wait(const Spawn& call, std::size_t k) {
    const Chain& sub = *call.chain;
    const Argument& a = call.arguments[k];
    if (!argument_reads(a) || has_read_count(a) || one_call(sub) == nullptr) return false;
    const char letter = sub.parameters[k]->letter;
    const bool stands = letter == 'n' || letter == 'i' || (letter == 'v' && a.value->kind == Expr::Kind::read);
    return stands && evaluates(*sub.last().body, sub.parameters[k]);
  }

  void body(Body& b) {
    std::vector<Step> steps;
    for (Step& step : b.steps) {
      auto* spawn = std::get_if<Spawn>(&step);
      if (spawn != nullptr && spawn->owned != nullptr && spawn->owned->last().body) body(*spawn->owned->last().body);
      if (spawn == nullptr || !fits(*spawn) || !insert(*spawn, steps)) steps.push_back(std::move(step));
    }
    b.steps = std::move(steps);
    // As they would be in a body written like this.
    auto next = static_cast<std::uint32_t>(b.names.size());
    for (Step& step : b.steps) {
      if (auto* spawn = std::get_if<Spawn>(&step)) spawn->ordinal = next++;
      if (auto* when = std::get_if<std::unique_ptr<When>>(&step)) (*when)->ordinal = next++;
    }
  }

  bool insert(const Spawn& call, std::vector<Step>& steps) {
    const Body& sub = *call.chain->last().body;
    Copy copy(program_, diagnostics_, call);
    Body inner = copy.body(sub);
    if (copy.too_large()) return false;
    if (!copy.read_first().empty()) {
      Chain& chain = *std::get<Spawn>(inner.steps[0]).owned;
      auto first = std::make_unique<Block>();
      first->sets = copy.read_first();
      for (const Set& set : first->sets) chain.temporaries.push_back(set.variable);
      chain.blocks.insert(chain.blocks.begin(), std::move(first));
    }
    // What is wrong with an argument is found also when nobody uses the parameter.
    for (std::size_t k = 0; k < call.arguments.size(); ++k) {
      const Argument& a = call.arguments[k];
      if (evaluates(sub, call.chain->parameters[k])) continue;
      const auto evaluate = [&](const ExprPtr& e) {
        if (!is_plain(*e)) steps.emplace_back(Evaluate{e});
      };
      if (a.type != ParameterType::name) {
        evaluate(a.value);
      } else {
        std::for_each(a.name.indices.begin(), a.name.indices.end(), evaluate);
      }
    }
    if (inner.names.empty() && inner.deletes.empty()) {
      std::move(inner.steps.begin(), inner.steps.end(), std::back_inserter(steps));
    } else {
      steps.emplace_back(std::make_unique<When>(When{0, nullptr, std::move(inner)}));
    }
    return true;
  }

  Program& program_;
  const Diagnostics& diagnostics_;
  std::map<const Chain*, std::size_t> calls_;
  struct Seen {
    std::uint32_t number = 0, low = 0;
    bool open = false;
  };
  std::map<const Chain*, std::vector<Chain*>> callees_;
  std::map<const Chain*, Seen> seen_;
  std::vector<Chain*> open_, order_;
  std::set<const Chain*> recursive_;
};

}  // namespace

void inline_subs(Program& program, Diagnostics& diagnostics) { Inlining(program, diagnostics).run(); }

}  // namespace tessera::compiler::block
