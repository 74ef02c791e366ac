#include "compiler/block/sum.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace tessera::compiler::block {
namespace {

using semantics::Expr;
using syntax::Operator;

constexpr std::int64_t kMostFactor = 1 << 20;

bool small(const Sum& s) {
  return std::all_of(s.terms.begin(), s.terms.end(), [](const auto& t) { return std::abs(t.second) <= kMostFactor; });
}

}  // namespace

void Sum::add(const Sum& other, std::int64_t k) {
  constant += k * other.constant;
  for (const auto& [v, factor] : other.terms) {
    if ((terms[v] += k * factor) == 0) terms.erase(v);
  }
}

std::optional<Sum> sum_of(const Expr& e, bool any) {
  if (e.type != semantics::Type::integer) return std::nullopt;
  switch (e.kind) {
    case Expr::Kind::integer:
      return Sum{e.integer, {}};
    case Expr::Kind::variable:
      if (!any && (e.variable->letter != 'i' || e.variable->kind == Variable::Kind::temporary)) return std::nullopt;
      return Sum{0, {{e.variable, 1}}};
    case Expr::Kind::negate: {
      const auto a = sum_of(*e.kids[0], any);
      if (!a) return std::nullopt;
      Sum s;
      s.add(*a, -1);
      return s;
    }
    case Expr::Kind::binary: {
      if (e.op == Operator::div || e.op == Operator::mod) {
        const auto a = sum_of(*e.kids[0], any);
        const auto b = sum_of(*e.kids[1], any);
        if (!a || !b || !a->terms.empty() || !b->terms.empty() || b->constant == 0) return std::nullopt;
        return Sum{e.op == Operator::div ? a->constant / b->constant : a->constant % b->constant, {}};
      }
      if (e.op != Operator::add && e.op != Operator::sub && e.op != Operator::mul) return std::nullopt;
      auto a = sum_of(*e.kids[0], any);
      auto b = sum_of(*e.kids[1], any);
      if (!a || !b) return std::nullopt;
      if (e.op == Operator::mul) {
        if (!b->terms.empty()) std::swap(a, b);
        if (!b->terms.empty() || std::abs(b->constant) > kMostFactor) return std::nullopt;
        Sum s;
        s.add(*a, b->constant);
        return small(s) ? std::optional(s) : std::nullopt;
      }
      a->add(*b, e.op == Operator::add ? 1 : -1);
      return small(*a) ? a : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace tessera::compiler::block
