#include "compiler/block/hulls.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "compiler/block/sum.hpp"
#include "compiler/block/walk.hpp"
#include "compiler/semantics/expression.hpp"

namespace tessera::compiler::block {
namespace {

using semantics::Expr;
using syntax::Operator;

// Larger expressions are no bounds: they are found for every record.
constexpr std::uint32_t kMostBound = 64;
// Subs that call each other in a circle are looked at so many times, then nothing is known.
constexpr int kRounds = 8;

void for_each_callee(const Body& body, const std::function<void(const Chain*)>& f) {
  for (const Step& step : body.steps) {
    if (const auto* when = std::get_if<std::unique_ptr<When>>(&step)) for_each_callee((*when)->body, f);
    const auto* spawn = std::get_if<Spawn>(&step);
    if (spawn == nullptr) continue;
    if (spawn->owned == nullptr) f(spawn->chain);
    if (spawn->owned == nullptr) continue;
    for (const auto& b : spawn->owned->blocks) {
      if (b->body) for_each_callee(*b->body, f);
    }
  }
}

// A product of which no factor is a number, or a quotient by no number.
bool has_scaled(const Expr& e) {
  const bool scales = e.kind == Expr::Kind::binary && (e.op == Operator::mul || e.op == Operator::div);
  if (scales && !constant_of(*e.kids[1]) && (e.op == Operator::div || !constant_of(*e.kids[0]))) return true;
  return std::any_of(e.kids.begin(), e.kids.end(), [](const ExprPtr& k) { return has_scaled(*k); });
}

// Null: of one of both nothing is known.
ExprPtr extreme(const ExprPtr& a, const ExprPtr& b, bool upper) {
  if (a == nullptr || b == nullptr) return nullptr;
  if (equal(a, b)) return a;
  auto e = std::make_shared<Expr>();
  e->kind = Expr::Kind::extreme;
  e->integer = upper ? 1 : 0;
  e->at = a->at;
  e->size = a->size + b->size + 1;
  e->kids = {a, b};
  return e;
}

ExprPtr limited(const ExprPtr& e) { return e == nullptr || e->size > kMostBound ? nullptr : e; }

}  // namespace

Hulls::Hulls(Program& program, const Names& names, const Names& writes, const Parameters& parameters)
    : program_(program), names_(names), writes_(writes), parameters_(parameters) {
  for (const auto& sub : program.subs) {
    for_each_callee(*sub->last().body, [&](const Chain* to) { calls_[sub.get()].insert(to); });
  }
  for (const auto& sub : program.subs) {
    std::set<const Chain*> reached;
    std::vector<const Chain*> open{sub.get()};
    while (!open.empty()) {
      const Chain* c = open.back();
      open.pop_back();
      for (const Chain* to : calls_[c]) {
        if (reached.insert(to).second) open.push_back(to);
      }
    }
    if (reached.count(sub.get()) != 0) recursive_.insert(sub.get());
  }
  for (const auto& sub : program.subs) find_ends(*sub, *sub->last().body, *sub->last().body, {});
  for (const auto& sub : program.subs) find_inputs(*sub);
  summarise();
  find_after();
}

std::size_t Hulls::prefix_of(const Variable* base) const {
  const auto it = parameters_.find(base);
  return it == parameters_.end() ? 0 : it->second.prefix;
}

void Hulls::order(const Chain* sub, std::set<const Chain*>& seen) {
  // Calls may be nested as deeply as there are subs.
  std::vector<std::pair<const Chain*, std::set<const Chain*>::const_iterator>> path;
  const auto enter = [&](const Chain* c) {
    if (seen.insert(c).second) path.emplace_back(c, calls_[c].begin());
  };
  enter(sub);
  while (!path.empty()) {
    auto& [at, next] = path.back();
    if (next == calls_[at].end()) {
      order_.push_back(at);
      path.pop_back();
    } else {
      enter(*next++);
    }
  }
}

// By induction: what a sub's calls of itself read has to lie within what it reads, or its bounds go.
void Hulls::summarise() {
  std::set<const Chain*> seen;
  for (const auto& sub : program_.subs) order(sub.get(), seen);
  for (const Chain* sub : order_) summaries_[sub] = whole(*sub);
  for (int round = 0; round < kRounds; ++round) {
    bool changed = false;
    for (const Chain* sub : order_) {
      if (!is_recursive(sub)) {
        summaries_[sub] = whole(*sub);
        continue;
      }
      for (const auto& [base, boxes] : whole(*sub)) {
        for (const Box& box : boxes) changed = widen(summaries_[sub][base], box) || changed;
      }
    }
    if (!changed) return;
  }
  for (auto& [sub, summary] : summaries_) {
    if (!is_recursive(sub)) continue;
    for (auto& [base, boxes] : summary) boxes = {Box(kMostIndices)};
  }
}

bool Hulls::widen(std::vector<Box>& known, const Box& box) {
  if (std::any_of(known.begin(), known.end(), [&](const Box& k) { return within(box, k); })) return false;
  if (known.empty()) {
    known.push_back(box);
    return true;
  }
  const auto lacks = [&](const Box& k) {
    int n = 0;
    for (std::size_t i = 0; i < k.size(); ++i) {
      n += within({box[i].first, nullptr}, {k[i].first, nullptr}) ? 0 : 1;
      n += within({nullptr, box[i].last}, {nullptr, k[i].last}) ? 0 : 1;
    }
    return n;
  };
  Box& best =
      *std::min_element(known.begin(), known.end(), [&](const Box& a, const Box& b) { return lacks(a) < lacks(b); });
  for (std::size_t i = 0; i < best.size(); ++i) {
    if (!within({box[i].first, nullptr}, {best[i].first, nullptr})) best[i].first = nullptr;
    if (!within({nullptr, box[i].last}, {nullptr, best[i].last})) best[i].last = nullptr;
  }
  return true;
}

Boxes Hulls::whole(const Chain& c) {
  known_.clear();
  inside_.clear();
  late_.clear();
  Boxes out;
  for (const auto& b : c.blocks) block(*b, true, out);
  return out;
}

Boxes Hulls::of(const Chain& c, std::size_t position) {
  known_.clear();
  inside_.clear();
  late_.clear();
  const Block& last = c.last();
  const bool again = last.kind == Kind::loop || last.last != nullptr;
  if (last.kind == Kind::range) {
    known_[last.counter] = {as_bound(c.parameters[0], c.at), as_bound(c.parameters[1], c.at)};
  } else if (again) {
    const ExprPtr counter = as_bound(last.counter, c.at);
    known_[last.counter] = {counter, last.last == nullptr ? nullptr : as_bound(last.last, c.at)};
  }
  wait_for(c, again ? 0 : position);
  Boxes later;
  const auto begin = again ? 0 : static_cast<std::ptrdiff_t>(position);
  for (auto b = c.blocks.begin() + begin; b != c.blocks.end(); ++b)
    block(**b, again || b - c.blocks.begin() > static_cast<std::ptrdiff_t>(position), later);
  for (const bool handed : {false, true}) {
    for (const auto& [base, boxes] : after(c, handed)) {
      for (const Box& box : boxes) add(base, box, later);
    }
  }
  if (later.empty() && position == 0) return later;
  for (const Input& in : c.blocks[position]->inputs) name(in.name, later);
  return later;
}

// What is known of what the blocks from this position on will set.
void Hulls::wait_for(const Chain& c, std::size_t position) {
  const Block* around = at_;
  for (const Variable* v : c.temporaries) known_[v] = {};
  for (std::size_t k = 0; k < position; ++k) {
    for (const Set& s : c.blocks[k]->sets) known_.erase(s.variable);
  }
  for (std::size_t k = position; k < c.blocks.size(); ++k) {
    at_ = c.blocks[k].get();
    if (const auto it = inputs_.find(at_); it != inputs_.end()) {
      for (const auto& [input, v] : it->second) late_.insert(v);
    }
    for (const Set& s : at_->sets) known_[s.variable] = {end(s.value, false), end(s.value, true)};
  }
  at_ = around;
}

// A chain that the record makes.
void Hulls::chain(const Chain& c, const Spawn* spawn, Boxes& out) {
  const Block& last = c.last();
  if (last.kind == Kind::range || last.last != nullptr) {
    known_[last.counter] = {end(spawn->arguments[0].value, false), end(spawn->arguments[1].value, true)};
    if (last.last != nullptr) known_[last.last] = known_[last.counter];
  } else if (last.kind == Kind::loop) {
    known_[last.counter] = {end(spawn->arguments[0].value, false), nullptr};
  }
  wait_for(c, 0);
  for (const auto& b : c.blocks) block(*b, true, out);
  for (const bool handed : {false, true}) {
    for (const auto& [base, boxes] : after(c, handed)) {
      for (Box box : boxes) {
        for (Side& s : box) s = {end(s.first, false), end(s.last, true)};
        add(base, std::move(box), out);
      }
    }
  }
}

void Hulls::block(const Block& b, bool inputs, Boxes& out) {
  for (const Input& in : b.inputs) {
    if (inputs) name(in.name, out);
  }
  for (const NameUse* n : b.outputs()) {
    if (writes_.count(n->base) != 0) name(*n, out);
  }
  const Block* around = std::exchange(at_, &b);
  if (b.body) body(*b.body, out);
  at_ = around;
}

void Hulls::body(const Body& b, Boxes& out) {
  for (const Declared& d : b.names) inside_.insert(d.variable);
  for (const Step& step : b.steps) {
    if (const auto* when = std::get_if<std::unique_ptr<When>>(&step)) {
      body((*when)->body, out);
    } else if (const auto* spawn = std::get_if<Spawn>(&step)) {
      for (const NameUse& n : spawn->done) {
        if (writes_.count(n.base) != 0) name(n, out);
      }
      spawn->owned == nullptr ? call(*spawn, out) : chain(*spawn->owned, spawn, out);
    }
  }
}

// What the callee reads of its parameters, in terms of what it is called with.
void Hulls::call(const Spawn& s, Boxes& out) {
  const Boxes& callee = summaries_[s.chain];
  Known given;
  for (std::size_t k = 0; k < s.arguments.size(); ++k) {
    const semantics::Argument& a = s.arguments[k];
    if (a.type == semantics::ParameterType::integer)
      given[s.chain->parameters[k]] = {end(a.value, false), end(a.value, true)};
    if (a.type != semantics::ParameterType::name) continue;
    const auto p = parameters_.find(s.chain->parameters[k]);
    if (p == parameters_.end()) continue;
    const auto of = parameters_.find(a.name.base);
    const std::size_t before = prefix_of(a.name.base);
    for (std::size_t i = 0; i < p->second.given.size(); ++i) {
      const ExprPtr index = i < before ? as_bound(of->second.given[i], s.at) : a.name.indices[i - before];
      given[p->second.given[i]] = {end(index, false), end(index, true)};
    }
  }
  for (std::size_t k = 0; k < s.arguments.size(); ++k) {
    const semantics::Argument& a = s.arguments[k];
    if (a.type != semantics::ParameterType::name || names_.count(a.name.base) == 0) continue;
    const auto it = callee.find(s.chain->parameters[k]);
    if (it == callee.end()) continue;
    for (const Box& box : it->second) {
      Box here(kMostIndices);
      std::swap(known_, given);
      for (std::size_t i = 0; i < box.size(); ++i) {
        here[i] = {box[i].first == nullptr ? nullptr : end(box[i].first, false),
                   box[i].last == nullptr ? nullptr : end(box[i].last, true)};
      }
      std::swap(known_, given);
      add(a.name.base, std::move(here), out);
    }
  }
}

void Hulls::name(const NameUse& n, Boxes& out) {
  if (names_.count(n.base) == 0) return;
  const auto p = parameters_.find(n.base);
  const std::size_t before = prefix_of(n.base);
  Box box(kMostIndices);
  for (std::size_t i = 0; i < kMostIndices; ++i) {
    ExprPtr index;
    if (i < before) {
      index = as_bound(p->second.given[i], n.at);
    } else if (i - before < n.indices.size()) {
      index = n.indices[i - before];
    }
    if (index != nullptr) box[i] = {end(index, false), end(index, true)};
  }
  add(n.base, std::move(box), out);
}

void Hulls::add(const Variable* base, Box box, Boxes& out) {
  if (inside_.count(base) != 0 || holds_end(base, box, out)) return;
  for (Side& s : box) {
    for (ExprPtr* e : {&s.first, &s.last}) {
      if (*e != nullptr && mentioned(**e, late_) != nullptr) *e = nullptr;
    }
  }
  put(out[base], std::move(box));
}

// What an int expression is at least, or at most; null: not known.
ExprPtr Hulls::end(const ExprPtr& e, bool upper) const {
  if (e == nullptr || e->size > kMostBound) return nullptr;
  if (e->type != semantics::Type::integer && e->type != semantics::Type::dynamic) return nullptr;
  switch (e->kind) {
    case Expr::Kind::integer:
      return e;
    case Expr::Kind::variable: {
      if (e->type != semantics::Type::integer) return nullptr;  // a `value`
      const auto it = known_.find(e->variable);
      return it == known_.end() ? e : upper ? it->second.last : it->second.first;
    }
    case Expr::Kind::input: {
      const auto of = inputs_.find(at_);
      if (of == inputs_.end()) return nullptr;
      const auto it = of->second.find(e->integer);
      return it == of->second.end() ? nullptr : semantics::make_variable(it->second, e->at);
    }
    case Expr::Kind::negate: {
      const ExprPtr a = end(e->kids[0], !upper);
      return a == nullptr ? nullptr : binary(Operator::sub, semantics::make_integer(0, e->at), a);
    }
    case Expr::Kind::binary:
      return end_of_both(*e, upper);
    case Expr::Kind::choice:
      return end_of_choice(*e, upper);
    case Expr::Kind::extreme:  // what a callee reads
      return limited(extreme(end(e->kids[0], upper), end(e->kids[1], upper), e->integer != 0));
    default:
      return nullptr;
  }
}

ExprPtr Hulls::end_of_both(const Expr& e, bool upper) const {
  const auto both = [&](bool first, bool second) -> ExprPtr {
    const ExprPtr a = end(e.kids[0], first), b = end(e.kids[1], second);
    if (a == nullptr || b == nullptr || a->size + b->size > kMostBound) return nullptr;
    const ExprPtr result = binary(e.op, a, b);
    const auto value = constant_of(*result);
    return value && std::abs(*value) < INT32_MAX ? semantics::make_integer(static_cast<std::int32_t>(*value), e.at)
                                                 : result;
  };
  const auto left = constant_of(*e.kids[0]), right = constant_of(*e.kids[1]);
  switch (e.op) {
    case Operator::add:
      return both(upper, upper);
    case Operator::sub:
      return both(upper, !upper);
    case Operator::mul:
      if (right) return both(*right >= 0 ? upper : !upper, upper);
      return left ? both(upper, *left >= 0 ? upper : !upper) : end_of_scaled(e, upper);
    case Operator::div:
      return right && *right > 0 ? both(upper, upper) : end_of_scaled(e, upper);
    case Operator::mod: {
      if (!right || *right <= 0) return nullptr;
      const ExprPtr least = end(e.kids[0], false);
      if (least != nullptr && is_fixed(*e.kids[0])) return binary(e.op, least, semantics::make_integer(*right, e.at));
      const auto from = least == nullptr ? std::nullopt : constant_of(*least);
      const auto most = static_cast<std::int32_t>(*right - 1);
      return semantics::make_integer(upper ? most : from && *from >= 0 ? 0 : -most, e.at);
    }
    default:
      return nullptr;
  }
}

// The same for all that is meant: both of its ends are what it is.
bool Hulls::is_fixed(const Expr& e) const {
  switch (e.kind) {
    case Expr::Kind::integer:
      return true;
    case Expr::Kind::variable:
      return known_.count(e.variable) == 0;
    case Expr::Kind::negate:
    case Expr::Kind::binary:
      return std::all_of(e.kids.begin(), e.kids.end(), [this](const ExprPtr& k) { return is_fixed(*k); });
    default:
      return false;
  }
}

// a * k, k * a, a / k, where `k` is known, but not its sign: one of both ends. One such in an expression, for which 64
// bits suffice.
ExprPtr Hulls::end_of_scaled(const Expr& e, bool upper) const {
  if (has_scaled(*e.kids[0]) || has_scaled(*e.kids[1])) return nullptr;  // nor are they looked at again and again
  const auto known = [&](std::size_t kid) -> ExprPtr {
    const ExprPtr a = end(e.kids[kid], false), b = end(e.kids[kid], true);
    return a != nullptr && b != nullptr && equal(a, b) && !has_scaled(*a) ? a : nullptr;
  };
  std::size_t by = 1;
  ExprPtr k = known(1);
  if (k == nullptr && e.op == Operator::mul) k = known(by = 0);
  if (k == nullptr) return nullptr;
  const auto scaled = [&](bool last) -> ExprPtr {
    const ExprPtr a = end(e.kids[1 - by], last);
    if (a == nullptr || has_scaled(*a)) return nullptr;
    if (e.op == Operator::mul) return binary(Operator::mul, a, k);
    const ExprPtr zero = semantics::make_integer(0, e.at);
    return choice(binary(Operator::ne, k, zero), binary(Operator::div, a, k), zero);  // the program fails there
  };
  return limited(extreme(scaled(false), scaled(true), upper));
}

// Where the condition is certain for all that is meant, it is one of both.
ExprPtr Hulls::end_of_choice(const Expr& e, bool upper) const {
  const ExprPtr yes = end(e.kids[1], upper), no = end(e.kids[2], upper);
  ExprPtr result = extreme(yes, no, upper);
  for (const bool so : {false, true}) {
    const ExprPtr known = certainly(*e.kids[0], so), one = so ? yes : no;
    if (known == nullptr || one == nullptr || result == nullptr) continue;
    if (const ExprPtr told = limited(choice(known, one, result)); told != nullptr) result = told;
  }
  return limited(result);
}

// When a comparison is `so` for all that is meant; null: nobody knows.
ExprPtr Hulls::certainly(const Expr& e, bool so) const {
  if (e.kind != Expr::Kind::binary) return nullptr;
  const auto compare = [&](std::size_t less, Operator op, std::size_t more) -> ExprPtr {
    const ExprPtr a = end(e.kids[less], true), b = end(e.kids[more], false);
    return a == nullptr || b == nullptr ? nullptr : binary(op, a, b);
  };
  switch (e.op) {
    case Operator::lt:
      return so ? compare(0, Operator::lt, 1) : compare(1, Operator::le, 0);
    case Operator::le:
      return so ? compare(0, Operator::le, 1) : compare(1, Operator::lt, 0);
    case Operator::gt:
      return so ? compare(1, Operator::lt, 0) : compare(0, Operator::le, 1);
    case Operator::ge:
      return so ? compare(1, Operator::le, 0) : compare(0, Operator::lt, 1);
    default:
      return nullptr;
  }
}

}  // namespace tessera::compiler::block
