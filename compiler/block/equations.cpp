#include "compiler/block/equations.hpp"

#include <algorithm>
#include <cstdlib>

#include "compiler/block/walk.hpp"

namespace tessera::compiler::block {
namespace {

using semantics::Expr;
using syntax::Operator;

Uses::Linear linear(const Sum& s, const Variable* without) {
  Uses::Linear out;
  out.constant = s.constant;
  for (const auto& [v, factor] : s.terms) {
    if (v != without) out.terms.emplace_back(v, factor);
  }
  return out;
}

}  // namespace

Equations::Equations(const std::vector<ExprPtr>& indices, Uses::Reader& reader) : indices_(indices), r_(reader) {
  for (std::size_t k = 0; k < indices.size(); ++k) {
    Equation e;
    e.index = k;
    e.sum = sum_of(*indices[k]);
    if (!e.sum) {
      if (auto found = find_split(*indices[k])) {
        e.split = true;
        e.remainder = found->split->op == Operator::mod;
        e.sign = found->sign;
        e.offset = std::move(found->offset);
        e.sum = sum_of(*found->split->kids[0]);
        e.by = found->split->kids[1];
      }
    }
    equations_.push_back(std::move(e));
  }
}

// offset + sign * (a % b), or a / b
std::optional<Equations::Found> Equations::find_split(const Expr& e) {
  if (e.type != semantics::Type::integer) return std::nullopt;
  if (e.kind == Expr::Kind::negate) {
    auto found = find_split(*e.kids[0]);
    if (!found) return std::nullopt;
    Sum offset;
    offset.add(found->offset, -1);
    return Found{-found->sign, found->split, std::move(offset)};
  }
  if (e.kind != Expr::Kind::binary) return std::nullopt;
  if (e.op == Operator::mod || e.op == Operator::div) {
    const bool whole = e.kids[0]->type == semantics::Type::integer && e.kids[1]->type == semantics::Type::integer;
    return whole ? std::optional(Found{1, &e, {}}) : std::nullopt;
  }
  if (e.op != Operator::add && e.op != Operator::sub) return std::nullopt;
  const int second = e.op == Operator::add ? 1 : -1;
  if (const auto right = sum_of(*e.kids[1])) {
    auto found = find_split(*e.kids[0]);
    if (found) found->offset.add(*right, second);
    return found;
  }
  const auto left = sum_of(*e.kids[0]);
  if (!left) return std::nullopt;
  const auto found = find_split(*e.kids[1]);
  if (!found) return std::nullopt;
  Sum offset = *left;
  offset.add(found->offset, second);
  return Found{second * found->sign, found->split, std::move(offset)};
}

bool Equations::open(const Variable* v) const {
  const bool runs = std::any_of(r_.around.begin(), r_.around.end(), [v](const auto& a) { return a.counter == v; });
  return runs && known_.count(v) == 0;
}

bool Equations::knows(const Variable* v) const {
  if (v->letter != 'i' && v->letter != 'r') return false;
  return v->kind != Variable::Kind::temporary && !open(v);
}

std::optional<int> Equations::after(const Sum& s) const {
  int last = Uses::kBefore;
  for (const auto& [v, factor] : s.terms) {
    if (open(v)) return std::nullopt;
    if (const auto at = known_.find(v); at != known_.end()) last = std::max(last, at->second);
  }
  return last;
}

const Variable* Equations::only_open(const Sum& s) const {
  const Variable* found = nullptr;
  for (const auto& [v, factor] : s.terms) {
    if (!open(v)) continue;
    if (found != nullptr) return nullptr;
    found = v;
  }
  return found;
}

// Sums with one counter that is not known yet, or none.
void Equations::use_sums() {
  for (bool more = true; more;) {
    more = false;
    for (Equation& e : equations_) {
      if (e.used || e.split || !e.sum) continue;
      Uses::Solved s;
      s.counter = only_open(*e.sum);
      s.index = e.index;
      s.rest = linear(*e.sum, s.counter);
      if (s.counter != nullptr) s.divisor = e.sum->terms.at(s.counter);
      Sum rest = *e.sum;
      if (s.counter != nullptr) rest.terms.erase(s.counter);
      const auto waits = after(rest);
      if (!waits) continue;
      s.after = *waits;
      if (s.counter != nullptr) known_[s.counter] = s.after;
      (s.counter == nullptr ? r_.checks : r_.solved).push_back(std::move(s));
      e.used = more = true;
    }
  }
}

// Is the counter in an index that has not been used?
bool Equations::in_others(const Variable* counter) const {
  return std::any_of(equations_.begin(), equations_.end(), [&](const Equation& e) {
    return !e.used && !made_of(indices_[e.index], [counter](const Variable* v) { return v != counter; });
  });
}

// Remainders and quotients of one loop's counter, when its bounds are known. Outer loops first: each waits for those
// before.
bool Equations::try_one() {
  for (std::size_t at = 0; at < r_.around.size(); ++at) {
    const Around& loop = r_.around[at];
    const auto is_known = [&](const Variable* v) { return knows(v); };
    if (loop.counter == nullptr || loop.last == nullptr || !open(loop.counter)) continue;
    if (!made_of(loop.first, is_known) || !made_of(loop.last, is_known)) continue;
    Uses::Tried tried;
    tried.counter = loop.counter;
    std::vector<Equation*> taken;
    for (Equation& e : equations_) {
      if (e.used || !e.split || !e.sum || only_open(*e.sum) != loop.counter) continue;
      const std::int64_t factor = e.sum->terms.at(loop.counter);
      if ((e.remainder && std::abs(factor) != 1) || !after(e.offset)) continue;
      // No division: it would be done where nothing may be read.
      if (!sum_of(*e.by) || !made_of(e.by, is_known)) continue;
      tried.splits.push_back(
          {e.remainder, e.index, linear(e.offset, nullptr), e.sign, factor, linear(*e.sum, loop.counter), e.by});
      taken.push_back(&e);
    }
    if (taken.empty()) continue;
    for (Equation* e : taken) e->used = true;
    // Quotients bound what is tried; then the first remainder is the step from one to the next.
    std::vector<std::pair<int, Uses::Split>> ranked;
    for (const Uses::Split& s : tried.splits) {
      ranked.emplace_back(!s.remainder ? 0 : tells_all(s, loop, tried) ? 1 : 2, s);
      tried.once |= ranked.back().first == 1;
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t k = 0; k < ranked.size(); ++k) tried.splits[k] = std::move(ranked[k].second);
    // What is tried and then found to be no read would cost without end.
    if (!tried.once && (taken.size() > 1 || in_others(loop.counter))) {
      for (Equation* e : taken) e->used = false;
      continue;
    }
    known_[loop.counter] = static_cast<int>(r_.tried.size());
    r_.tried.push_back(std::move(tried));
    return true;
  }
  return false;
}

// Has at most one value of the counter this remainder? There are no more values than remainders, or the quotient of the
// same is known.
bool Equations::tells_all(const Uses::Split& s, const Around& loop, const Uses::Tried& tried) {
  const auto first = sum_of(*loop.first), last = sum_of(*loop.last), by = sum_of(*s.by);
  if (first && last && by) {
    Sum spare = *by;
    spare.add(*last, -1);
    spare.add(*first, 1);
    if (spare.terms.empty() && spare.constant >= 1) return true;
  }
  return std::any_of(tried.splits.begin(), tried.splits.end(), [&](const Uses::Split& q) {
    return !q.remainder && equal(q.by, s.by) && q.factor == s.factor && q.rest.constant == s.rest.constant &&
           q.rest.terms == s.rest.terms;
  });
}

bool Equations::narrow() {
  for (const Around& a : r_.around) {
    if (a.counter == nullptr) continue;
    if (!narrow(a, true) || (a.last != nullptr && !narrow(a, false))) return false;
  }
  return true;
}

bool Equations::narrow(const Around& a, bool first) {
  const ExprPtr& bound = first ? a.first : a.last;
  if (made_of(bound, [&](const Variable* v) { return knows(v); })) return true;
  // What is tried has another value each time, and bounds what it is tried in.
  const auto own = known_.find(a.counter);
  const auto sum = sum_of(*bound);
  if (own == known_.end() || own->second != Uses::kBefore || !sum) return false;
  const Variable* free = only_open(*sum);
  if (free == nullptr || std::abs(sum->terms.at(free)) != 1) return false;
  // inner >= bound (or <=), bound = sign * free + rest: free <= sign * (inner - rest), and so on.
  const std::int64_t sign = sum->terms.at(free);
  Sum rest = *sum;
  rest.terms.erase(free);
  if (after(rest) != Uses::kBefore) return false;
  Sum other;
  other.add({0, {{a.counter, 1}}}, sign);
  other.add(rest, -sign);
  r_.narrowed.push_back({free, (sign > 0) != first, linear(other, nullptr), a.counter, first});
  return true;
}

bool Equations::solve() {
  use_sums();
  while (try_one()) use_sums();
  const auto is_known = [&](const Variable* v) { return knows(v); };
  for (const Equation& e : equations_) {
    if (e.used) continue;
    if (!made_of(indices_[e.index], is_known)) return false;
    r_.equal.emplace_back(e.index, indices_[e.index]);
  }
  // A loop's bounds are looked at where it stands: what its counter waits for must be known there.
  int reached = Uses::kBefore;
  for (const Around& a : r_.around) {
    if (a.counter == nullptr) continue;
    const auto at = known_.find(a.counter);
    if (at == known_.end()) continue;
    const bool is_tried = at->second >= 0 && r_.tried[static_cast<std::size_t>(at->second)].counter == a.counter;
    if (is_tried ? at->second != reached + 1 : at->second > reached) return false;
    if (is_tried) ++reached;
  }
  return true;
}

}  // namespace tessera::compiler::block
