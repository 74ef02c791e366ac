#include "compiler/block/boxes.hpp"

#include <algorithm>
#include <utility>

#include "compiler/block/sum.hpp"
#include "compiler/block/walk.hpp"
#include "compiler/semantics/expression.hpp"

namespace tessera::compiler::block {
namespace {

using semantics::Expr;

// `a - b`, if that is a number.
std::optional<std::int64_t> apart_by(const ExprPtr& a, const ExprPtr& b) {
  if (equal(a, b)) return 0;
  const auto x = sum_of(*a, true), y = sum_of(*b, true);
  if (!x || !y) return std::nullopt;
  Sum d = *x;
  d.add(*y, -1);
  if (!d.terms.empty()) return std::nullopt;
  return d.constant;
}

// In the same unknowns: is `a` at least `b`?
bool at_least(const ExprPtr& a, const ExprPtr& b) {
  const auto d = apart_by(a, b);
  return d && *d >= 0;
}

// The one of both that is further out; false: nobody knows which.
bool further(ExprPtr& a, const ExprPtr& b, bool upper) {
  if (a == nullptr || b == nullptr) return a = nullptr, true;
  const auto d = apart_by(a, b);
  if (!d) return false;
  if ((*d > 0) != upper) a = b;
  return true;
}

bool join(Box& a, const Box& b) {
  Box both = a;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (!further(both[k].first, b[k].first, false) || !further(both[k].last, b[k].last, true)) return false;
  }
  a = std::move(both);
  return true;
}

// What is certainly around both.
void cover(Box& a, const Box& b) {
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (!further(a[k].first, b[k].first, false)) a[k].first = nullptr;
    if (!further(a[k].last, b[k].last, true)) a[k].last = nullptr;
  }
}

}  // namespace

std::optional<std::int64_t> constant_of(const Expr& e) {
  const auto s = sum_of(e, true);
  if (!s || !s->terms.empty()) return std::nullopt;
  return s->constant;
}

const Variable* mentioned(const Expr& e, const std::set<const Variable*, ById>& variables) {
  if (e.variable != nullptr && variables.count(e.variable) != 0) return e.variable;
  for (const ExprPtr& k : e.kids) {
    if (const Variable* v = mentioned(*k, variables)) return v;
  }
  return nullptr;
}

ExprPtr as_bound(const Variable* v, Extent at) { return v == nullptr ? nullptr : semantics::make_variable(v, at); }

bool within(const Side& a, const Side& b) {
  return (b.first == nullptr || (a.first != nullptr && at_least(a.first, b.first))) &&
         (b.last == nullptr || (a.last != nullptr && at_least(b.last, a.last)));
}

bool within(const Box& a, const Box& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Side& x, const Side& y) { return within(x, y); });
}

void put(std::vector<Box>& list, Box box) {
  for (Box& known : list) {
    if (join(known, box)) return;
  }
  list.push_back(std::move(box));
  if (list.size() <= kMostBoxes) return;
  for (std::size_t k = 1; k < list.size(); ++k) cover(list[0], list[k]);
  list.resize(1);
}

}  // namespace tessera::compiler::block
