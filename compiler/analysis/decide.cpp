#include "compiler/analysis/decide.hpp"

#include <algorithm>
#include <set>

#include "compiler/semantics/expression.hpp"

namespace tessera::compiler::analysis {
namespace {

using semantics::Expr;
using semantics::Operator;
using semantics::Type;

constexpr std::size_t kMostCases = 16;
constexpr std::int64_t kDecideEffort = 20'000;
constexpr std::uint32_t kLargestDecided = 500;  // nodes of an expression

}  // namespace

Linear Decider::atom(const std::string& key, bool whole) {
  const auto [it, fresh] = symbols_.try_emplace(key, static_cast<Symbol>(symbols_.size()));
  if (fresh) whole_.push_back(whole);
  return linear_symbol(it->second);
}

// opaque: equal expressions of equal parts are the same value, whatever it is.
Linear Decider::opaque(const Expr& e) {
  std::string text;
  if (e.kind == Expr::Kind::read) {
    text = "n" + std::to_string(e.name.base->id);
    for (const auto& i : e.name.indices) text += "[" + key(form(*i)) + "]";
  } else if (e.kind == Expr::Kind::variable) {
    text = "v" + std::to_string(e.variable->id);
  } else {
    text = std::to_string(static_cast<int>(e.kind)) + "/" + std::to_string(static_cast<int>(e.op)) + "/" +
           std::to_string(static_cast<int>(e.type)) + "/" + std::to_string(e.text.size()) + e.text + "(";
    for (const auto& kid : e.kids) text += key(form(*kid)) + ",";
    text += ")";
  }
  return atom(text, e.type == Type::integer);
}

Linear Decider::binary(const Expr& e) {
  if (semantics::is_logical(e) || e.type == Type::string) return opaque(e);
  const Linear a = form(*e.kids[0]), b = form(*e.kids[1]);
  bool ok = true;
  Linear r;
  if (e.op == Operator::add) {
    r = sum(a, b, 1, ok);
  } else if (e.op == Operator::sub) {
    r = sum(a, b, -1, ok);
  } else if (e.op == Operator::mul && a.is_constant()) {
    r = scaled(b, a.constant, ok);
  } else if (e.op == Operator::mul && b.is_constant()) {
    r = scaled(a, b.constant, ok);
  } else {
    return opaque(e);
  }
  return ok ? r : opaque(e);
}

Linear Decider::form(const Expr& e) {
  switch (e.kind) {
    case Expr::Kind::integer:
      return linear(e.integer);
    case Expr::Kind::variable:
      if (const auto it = values_.find(e.variable); it != values_.end()) return it->second;
      return opaque(e);
    case Expr::Kind::negate: {
      bool ok = true;
      const Linear r = scaled(form(*e.kids[0]), -1, ok);
      return ok ? r : opaque(e);
    }
    case Expr::Kind::binary:
      return binary(e);
    case Expr::Kind::cast:  // an int stays what it is
      if (e.kids[0]->type == Type::integer && e.type != Type::string) return form(*e.kids[0]);
      return opaque(e);
    default:
      return opaque(e);
  }
}

Decider::Alternatives Decider::compare(const Expr& e, bool negated) {
  const Expr &left = *e.kids[0], &right = *e.kids[1];
  const bool to_zero = right.kind == Expr::Kind::integer && right.integer == 0;
  if (to_zero && semantics::is_logical(left) && (e.op == Operator::eq || e.op == Operator::ne)) {
    return alternatives(left, negated != (e.op == Operator::eq));
  }
  if (left.type == Type::string || right.type == Type::string) return {{}};
  if (semantics::is_logical(left) || semantics::is_logical(right)) return {{}};  // T224 says what is wrong with it
  bool ok = true;
  const Linear d = sum(form(left), form(right), -1, ok);
  const Linear down = scaled(d, -1, ok);
  if (!ok) return {{}};
  switch (negated ? syntax::opposite(e.op) : e.op) {
    case Operator::lt:
      return {{{down, true}}};
    case Operator::le:
      return {{{down, false}}};
    case Operator::gt:
      return {{{d, true}}};
    case Operator::ge:
      return {{{d, false}}};
    case Operator::eq:
      return {{{d, false}, {down, false}}};
    default:
      return {{{d, true}}, {{down, true}}};
  }
}

// alternatives of what is necessary for e (or its opposite) to hold.
Decider::Alternatives Decider::alternatives(const Expr& e, bool negated) {
  if (e.kind == Expr::Kind::binary && syntax::is_comparison(e.op)) return compare(e, negated);
  if (e.kind == Expr::Kind::binary && syntax::is_logic(e.op)) {
    const Alternatives a = alternatives(*e.kids[0], negated), b = alternatives(*e.kids[1], negated);
    const bool both = (e.op == Operator::land) != negated;
    Alternatives r;
    if (both) {
      for (const Conjunction& x : a) {
        for (const Conjunction& y : b) {
          r.push_back(x);
          r.back().insert(r.back().end(), y.begin(), y.end());
        }
        if (r.size() > kMostCases) return {{}};
      }
    } else {
      r = a;
      r.insert(r.end(), b.begin(), b.end());
      if (r.size() > kMostCases) return {{}};
    }
    return r;
  }
  if (e.type == Type::string) return {{}};
  const Linear v = form(e);
  bool ok = true;
  const Linear down = scaled(v, -1, ok);
  if (!ok) return {{}};
  if (negated) return {{{v, false}, {down, false}}};
  return {{{v, true}}, {{down, true}}};
}

bool Decider::possible(const Alternatives& any) {
  return std::any_of(any.begin(), any.end(), [&](const Conjunction& all) { return possible(all); });
}

// Where some value may be real, the question is asked of real numbers: constants become multiples of a
// variable of its own, so that an integer solution is a rational one of the original, and the other way round.
bool Decider::possible(const Conjunction& all) {
  Conjunction parts = all;
  std::set<Symbol> met;
  for (std::size_t k = 0; k < parts.size(); ++k) {  // grows
    const Linear form = parts[k].form;
    for (const auto& [symbol, factor] : form.terms) {
      const auto counter = counters_.find(symbol);
      if (!met.insert(symbol).second || counter == counters_.end()) continue;
      const Conjunction& range = ranges_.at(counter->second);
      parts.insert(parts.end(), range.begin(), range.end());
    }
  }
  const bool whole = std::all_of(met.begin(), met.end(), [&](Symbol s) { return whole_[s]; });
  System system;
  system.variables = symbols_.size();
  const std::size_t one = whole ? 0 : system.variable();
  for (const Part& p : parts) {
    Row row;
    for (const auto& [symbol, factor] : p.form.terms) row.ref(symbol) = factor;
    row.c = p.form.constant;
    if (!whole) {
      row.ref(one) = row.c;
      row.c = 0;
    }
    if (p.strict) row.c -= 1;
    system.positive.push_back(std::move(row));
  }
  if (!whole) {
    Row row;
    row.ref(one) = 1;
    row.c = -1;
    system.positive.push_back(std::move(row));
  }
  Effort effort{kDecideEffort};
  return solve(system, effort) != Answer::no;
}

void Decider::range(const semantics::Variable* counter, const Expr& first, const Expr* last) {
  if (first.size + (last == nullptr ? 0 : last->size) > kLargestDecided) return;
  const Linear own = atom("v" + std::to_string(counter->id), true);
  Conjunction range;
  bool ok = true;
  if (first.type == Type::integer) range.push_back({sum(own, form(first), -1, ok), false});
  if (last != nullptr && last->type == Type::integer) range.push_back({sum(form(*last), own, -1, ok), false});
  if (!ok) return;
  counters_[own.terms[0].first] = counter;
  ranges_[counter] = std::move(range);
}

Truth Decider::decide(const Expr& condition) {
  if (condition.size > kLargestDecided) return Truth::open;
  if (!possible(alternatives(condition, false))) return Truth::never;
  return possible(alternatives(condition, true)) ? Truth::open : Truth::always;
}

Truth Decider::decide_for(const Expr& condition, const semantics::Variable* counter, const Expr& value) {
  if (condition.size > kLargestDecided || value.size > kLargestDecided || value.type != Type::integer)
    return Truth::open;
  values_[counter] = form(value);
  const Truth result = decide(condition);
  values_.erase(counter);
  return result;
}

bool Decider::is_empty(const Expr& first, const Expr& last) {
  if (first.size + last.size > kLargestDecided) return false;
  if (first.type == Type::string || last.type == Type::string || first.type == Type::real || last.type == Type::real)
    return false;
  bool ok = true;
  const Linear length = sum(form(last), form(first), -1, ok);
  return ok && !possible(Conjunction{{length, false}});
}

}  // namespace tessera::compiler::analysis
