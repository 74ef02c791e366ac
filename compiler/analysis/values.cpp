#include <algorithm>
#include <cstdlib>

#include "compiler/analysis/flow_builder.hpp"
#include "compiler/semantics/expression.hpp"

namespace tessera::compiler::analysis {
namespace {

using semantics::Expr;
using semantics::Operator;
using semantics::Type;

constexpr std::size_t kMostAlternatives = 6;
constexpr std::uint32_t kWorthKeeping = 8;  // nodes

Condition known(bool truth) { return {truth ? Condition::Kind::always : Condition::Kind::never, {}}; }

// At least one of the conjunctions; the order of the terms is that of the text.
Condition exact(Alternatives all) { return {Condition::Kind::exact, std::move(all)}; }

Condition both(const Condition& a, const Condition& b) {
  using Kind = Condition::Kind;
  if (a.kind == Kind::never || b.kind == Kind::never) return known(false);
  if (a.kind == Kind::always) return b;
  if (b.kind == Kind::always) return a;
  Condition r;
  r.kind = a.kind == Kind::exact && b.kind == Kind::exact ? Kind::exact : Kind::unknown;
  if (a.alternatives.empty()) r.alternatives = b.alternatives;
  if (b.alternatives.empty()) r.alternatives = a.alternatives;
  for (const auto& x : a.alternatives) {
    for (const auto& y : b.alternatives) {
      r.alternatives.push_back(x);
      r.alternatives.back().insert(r.alternatives.back().end(), y.begin(), y.end());
    }
  }
  if (r.alternatives.size() > kMostAlternatives) return {};
  return r;
}

Condition either(Condition a, const Condition& b) {
  using Kind = Condition::Kind;
  if (a.kind == Kind::always || b.kind == Kind::always) return known(true);
  if (a.kind == Kind::never) return b;
  if (b.kind == Kind::never) return a;
  if (a.kind != Kind::exact || b.kind != Kind::exact) return {};
  a.alternatives.insert(a.alternatives.end(), b.alternatives.begin(), b.alternatives.end());
  if (a.alternatives.size() > kMostAlternatives) return {};
  return a;
}

// d `op` 0
Condition against_zero(Operator op, const Linear& d) {
  bool ok = true;
  const Linear down = scaled(d, -1, ok);
  const auto minus_one = [&](Linear l) {
    --l.constant;
    return l;
  };
  if (!ok) return {};
  switch (op) {
    case Operator::lt:
      return exact({{minus_one(down)}});
    case Operator::gt:
      return exact({{minus_one(d)}});
    case Operator::le:
      return exact({{down}});
    case Operator::ge:
      return exact({{d}});
    case Operator::eq:
      return exact({{d, down}});
    case Operator::ne:
      return exact({{minus_one(d)}, {minus_one(down)}});
    default:
      return {};
  }
}

Operator mirrored(Operator op) {
  switch (op) {
    case Operator::lt:
      return Operator::gt;
    case Operator::gt:
      return Operator::lt;
    case Operator::le:
      return Operator::ge;
    case Operator::ge:
      return Operator::le;
    default:
      return op;
  }
}

bool holds(Operator op, std::int64_t d) {
  switch (op) {
    case Operator::lt:
      return d < 0;
    case Operator::gt:
      return d > 0;
    case Operator::le:
      return d <= 0;
    case Operator::ge:
      return d >= 0;
    case Operator::eq:
      return d == 0;
    default:
      return d != 0;
  }
}

}  // namespace

// Of each alternative at least one part is false.
Condition negated(const Condition& c) {
  if (c.kind == Condition::Kind::always) return known(false);
  if (c.kind == Condition::Kind::never) return known(true);
  if (c.kind != Condition::Kind::exact) return {};
  Condition r = known(true);
  for (const auto& alternative : c.alternatives) {
    Condition some = known(false);
    for (const Linear& l : alternative) some = either(some, against_zero(Operator::lt, l));
    r = both(r, some);
  }
  return r;
}

Values::NameRef Values::resolve(const semantics::NameUse& use) {
  NameRef r = names_[use.base->id];
  for (const auto& i : use.indices) r.prefix.push_back(integer(*i));
  return r;
}

Linear Values::symbol(const std::string& key, NodeId node, const std::string& text) {
  const auto [it, fresh] = symbols_.try_emplace(key, static_cast<Symbol>(flow_.symbols.size()));
  if (fresh) {
    flow_.symbols.emplace_back();
    flow_.symbols.back().node = node;
    flow_.symbols.back().text = text;
  }
  return linear_symbol(it->second);
}

Symbol Values::counter(NodeId node, const std::string& text, const Linear& first, const Linear* last) {
  SymbolInfo info;
  info.kind = SymbolInfo::Kind::counter;
  info.node = node;
  info.text = text;
  info.least = range_of(flow_, first).first;
  if (last != nullptr) info.most = range_of(flow_, *last).second;
  flow_.symbols.push_back(std::move(info));
  return static_cast<Symbol>(flow_.symbols.size() - 1);
}

Symbol Values::unknown(const std::string& text) {
  flow_.symbols.emplace_back();
  flow_.symbols.back().text = text;
  return static_cast<Symbol>(flow_.symbols.size() - 1);
}

// opaque: a symbol for the expression as it stands; equal expressions of equal parts share it.
Linear Values::opaque(const Expr& e) {
  if (e.kind == Expr::Kind::read) {
    const NameRef name = resolve(e.name);
    NodeId node = flow_.names[name.name].node;
    std::string key = "n" + std::to_string(name.name);
    std::string text = flow_.names[name.name].variable->name;
    for (const Linear& i : name.prefix) {
      node = deepest(node, deepest_node(flow_, i));
      key += "[" + analysis::key(i) + "]";
      text += "[" + text_of(flow_, i) + "]";
    }
    return symbol(key, node, text);
  }
  std::string key = std::to_string(static_cast<int>(e.kind)) + "/" + std::to_string(static_cast<int>(e.op)) + "/" +
                    std::to_string(static_cast<int>(e.type)) + e.text + "(";
  NodeId node = 0;
  if (e.kind == Expr::Kind::variable) {
    const Linear l = values_[e.variable->id].linear;
    key += analysis::key(l);
    node = deepest_node(flow_, l);
  }
  for (const auto& kid : e.kids) {
    const Value v = value(*kid);
    node = deepest(node, deepest_node(flow_, v.linear));
    key += analysis::key(v.linear) + (v.integer ? "i," : ",");
  }
  return symbol(key + ")", node, e.kind == Expr::Kind::variable ? e.variable->name : "...");
}

// a / by as C++ divides, by > 0: exact where the sign of a is known.
Linear Values::divided(const Linear& a, std::int64_t by, const Expr& e) {
  if (a.is_constant()) return linear(a.constant / by);
  if (by == 1) return a;
  const auto remainder = remainders_.find(key(a));
  const Range r = remainder != remainders_.end() ? remainder->second : range_of(flow_, a);
  const bool positive = r.first && *r.first >= 0;
  if (!positive && !(r.second && *r.second <= 0)) return opaque(e);
  bool ok = true;
  const Linear of = positive ? a : scaled(a, -1, ok);
  const Linear q = symbol("q" + std::to_string(by) + "/" + key(of), deepest_node(flow_, of),
                          "(" + text_of(flow_, of) + ") / " + std::to_string(by));
  SymbolInfo& info = flow_.symbols[q.terms[0].first];
  info.kind = SymbolInfo::Kind::quotient;
  info.of = of;
  info.divisor = by;
  const Range magnitude = range_of(flow_, of);
  info.least = *magnitude.first / by;
  if (magnitude.second) info.most = *magnitude.second / by;
  return positive ? q : scaled(q, -1, ok);
}

Value Values::binary(const Expr& e) {
  if (e.type == Type::real || e.type == Type::string) return {opaque(e), false};
  if (syntax::is_comparison(e.op) || syntax::is_logic(e.op)) {
    const Condition c = condition(e);
    if (c.kind == Condition::Kind::always) return {linear(1), true};
    if (c.kind == Condition::Kind::never) return {linear(0), true};
    return {opaque(e), true};
  }
  const Value a = value(*e.kids[0]);
  const Value b = value(*e.kids[1]);
  const bool integer = e.type == Type::integer || e.type == Type::longint || (a.integer && b.integer);
  bool ok = true;
  Linear r;
  switch (e.op) {
    case Operator::add:
      r = sum(a.linear, b.linear, 1, ok);
      break;
    case Operator::sub:
      r = sum(a.linear, b.linear, -1, ok);
      break;
    case Operator::mul:
      if (a.linear.is_constant()) {
        r = scaled(b.linear, a.linear.constant, ok);
      } else if (b.linear.is_constant()) {
        r = scaled(a.linear, b.linear.constant, ok);
      } else {
        ok = false;
      }
      break;
    case Operator::div:
    case Operator::mod: {
      const std::int64_t by = b.linear.constant;
      if (!b.linear.is_constant() || by <= 0) {
        ok = false;
        break;
      }
      const auto quotient = std::make_shared<Expr>(e);
      quotient->op = Operator::div;
      r = divided(a.linear, by, *quotient);
      if (e.op == Operator::mod) {
        const Range range = range_of(flow_, a.linear);
        r = sum(a.linear, r, -by, ok);
        if (range.first && *range.first >= 0) remainders_[key(r)] = {0, by - 1};
      }
      break;
    }
    default:
      ok = false;
  }
  if (!ok) r = opaque(e);
  return {r, integer};
}

// Expressions may be deep and, through `let`, share their parts: each part is looked at once per
// expression.
Value Values::value(const Expr& e) {
  if (e.size < kWorthKeeping) return fresh_value(e);
  const Keeping keeping(*this);
  if (const auto it = kept_values_.find(&e); it != kept_values_.end()) return it->second;
  Value v = fresh_value(e);
  kept_values_.emplace(&e, v);
  return v;
}

Condition Values::condition(const Expr& e) {
  if (e.size < kWorthKeeping) return fresh_condition(e);
  const Keeping keeping(*this);
  if (const auto it = kept_conditions_.find(&e); it != kept_conditions_.end()) return it->second;
  Condition c = fresh_condition(e);
  kept_conditions_.emplace(&e, c);
  return c;
}

Alternatives Values::necessary(const Expr& e) {
  compares_values_ = true;
  Condition c = condition(e);
  compares_values_ = false;
  return std::move(c.alternatives);
}

Value Values::fresh_value(const Expr& e) {
  switch (e.kind) {
    case Expr::Kind::integer:
      return {linear(e.integer), true};
    case Expr::Kind::variable:
      if (e.type == Type::real || e.type == Type::string) return {opaque(e), false};
      return values_[e.variable->id];
    case Expr::Kind::negate: {
      if (e.type == Type::real) return {opaque(e), false};
      const Value v = value(*e.kids[0]);
      bool ok = true;
      const Linear r = scaled(v.linear, -1, ok);
      return {ok ? r : opaque(e), v.integer};
    }
    case Expr::Kind::binary:
      return binary(e);
    case Expr::Kind::choice: {
      const Condition c = condition(*e.kids[0]);
      if (e.type != Type::real && c.kind == Condition::Kind::always) return value(*e.kids[1]);
      if (e.type != Type::real && c.kind == Condition::Kind::never) return value(*e.kids[2]);
      return {opaque(e), e.type == Type::integer};
    }
    case Expr::Kind::cast:
      if (e.type == Type::integer || e.type == Type::longint) {
        const Value v = value(*e.kids[0]);
        return v.integer ? v : Value{opaque(e), true};
      }
      return {opaque(e), false};
    default:
      return {opaque(e), false};
  }
}

Linear Values::integer(const Expr& e) {
  return e.type == Type::real || e.type == Type::string ? opaque(e) : value(e).linear;
}

Value Values::passed(const semantics::Argument& a) {
  if (a.type == semantics::ParameterType::integer) return {integer(*a.value), true};
  return value(*a.value);
}

// A value that may be real, with an int: its symbol is twice the int that it is, or an odd number between twice those
// that it lies between. Of what is no number nothing holds.
Condition Values::compare_number(Operator op, const Linear& a, std::int64_t number) {
  if (!compares_values_ || a.constant != 0 || a.terms.size() != 1 || a.terms.front().second != 1) return {};
  Linear d = symbol("2 * " + key(a), deepest_node(flow_, a), text_of(flow_, a));
  d.constant = -2 * number;
  Condition c = against_zero(op, d);
  c.kind = Condition::Kind::unknown;
  return c;
}

Condition Values::compare(const Expr& e) {
  const bool to_zero = e.kids[1]->kind == Expr::Kind::integer && e.kids[1]->integer == 0;
  if (to_zero && semantics::is_logical(*e.kids[0]) && (e.op == Operator::eq || e.op == Operator::ne)) {
    const Condition c = condition(*e.kids[0]);
    return e.op == Operator::ne ? c : negated(c);
  }
  const Value a = value(*e.kids[0]);
  const Value b = value(*e.kids[1]);
  if (!a.integer && b.integer && b.linear.is_constant()) return compare_number(e.op, a.linear, b.linear.constant);
  if (!b.integer && a.integer && a.linear.is_constant()) {
    return compare_number(mirrored(e.op), b.linear, a.linear.constant);
  }
  if (!a.integer || !b.integer) return {};
  bool ok = true;
  const Linear d = sum(a.linear, b.linear, -1, ok);
  if (!ok) return {};
  if (d.is_constant()) return known(holds(e.op, d.constant));
  return against_zero(e.op, d);
}

Condition Values::fresh_condition(const Expr& e) {
  if (e.kind == Expr::Kind::real) return known(std::strtod(e.text.c_str(), nullptr) != 0);
  if (e.kind == Expr::Kind::binary && syntax::is_comparison(e.op)) return compare(e);
  if (e.kind == Expr::Kind::binary && e.op == Operator::land) {
    return both(condition(*e.kids[0]), condition(*e.kids[1]));
  }
  if (e.kind == Expr::Kind::binary && e.op == Operator::lor) {
    return either(condition(*e.kids[0]), condition(*e.kids[1]));
  }
  const Value v = value(e);
  if (!v.integer) return {};
  if (v.linear.is_constant()) return known(v.linear.constant != 0);
  return against_zero(Operator::ne, v.linear);
}

}  // namespace tessera::compiler::analysis
