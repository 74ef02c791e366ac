#include "compiler/analysis/rows.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace tessera::compiler::analysis {
namespace {

void trim(Row& row) {
  while (!row.a.empty() && row.a.back() == 0) row.a.pop_back();
}

void divide(Row& row, Integer by) {
  for (Integer& a : row.a) a /= by;
}

bool normal_zero(std::vector<Row>& rows) {
  std::vector<Row> kept;
  for (Row& row : rows) {
    trim(row);
    if (row.a.empty()) {
      if (row.c != 0) return false;
      continue;
    }
    const Integer g = gcd_of(row);
    if (row.c % g != 0) return false;
    divide(row, g);
    row.c /= g;
    kept.push_back(std::move(row));
  }
  rows = std::move(kept);
  return true;
}

Row negated(const Row& row) { return combine(-1, row, 0, {}); }

// Of rows with the same coefficients the tightest stays; a row and its opposite may make an
// equation or a contradiction.
bool normal_positive(System& s) {
  std::map<std::vector<Integer>, Integer> tightest;
  for (Row& row : s.positive) {
    trim(row);
    if (row.a.empty()) {
      if (row.c < 0) return false;
      continue;
    }
    const Integer g = gcd_of(row);
    divide(row, g);
    const Integer c = floor_div(row.c, g);
    const auto [it, fresh] = tightest.try_emplace(std::move(row.a), c);
    if (!fresh) it->second = std::min(it->second, c);
  }
  s.positive.clear();
  std::vector<Row> equations;
  for (const auto& [a, c] : tightest) {
    const Row opposite = negated({a, c});
    const auto it = tightest.find(opposite.a);
    if (it != tightest.end()) {
      const Integer gap = plus(c, it->second);
      if (gap < 0) return false;
      if (gap == 0) {
        if (a < opposite.a) equations.push_back({a, c});
        continue;
      }
    }
    s.positive.push_back({a, c});
  }
  s.zero.insert(s.zero.end(), equations.begin(), equations.end());
  return true;
}

bool normal_congruent(System& s) {
  std::vector<std::pair<Row, Integer>> kept;
  for (auto& [row, m] : s.congruent) {
    for (Integer& a : row.a) a %= m;
    row.c %= m;
    trim(row);
    if (row.a.empty()) {
      if (row.c != 0) return false;
      continue;
    }
    const Integer g = std::gcd(gcd_of(row), m);
    if (row.c % g != 0) return false;
    divide(row, g);
    row.c /= g;
    if (m / g != 1) kept.emplace_back(std::move(row), m / g);
  }
  s.congruent = std::move(kept);
  return true;
}

}  // namespace

Integer plus(Integer a, Integer b) {
  Integer r = 0;
  if (__builtin_add_overflow(a, b, &r)) throw Overflow{};
  return r;
}

Integer times(Integer a, Integer b) {
  Integer r = 0;
  if (__builtin_mul_overflow(a, b, &r)) throw Overflow{};
  return r;
}

Integer floor_div(Integer a, Integer b) {
  const Integer q = a / b;
  return a % b < 0 ? q - 1 : q;
}

Integer nearest_div(Integer a, Integer b) {
  const Integer magnitude = b < 0 ? -b : b;
  const Integer q = floor_div(plus(times(2, a), magnitude), times(2, magnitude));
  return b < 0 ? -q : q;
}

Row combine(Integer p, const Row& x, Integer q, const Row& y) {
  Row r;
  r.a.resize(std::max(x.a.size(), y.a.size()));
  for (std::size_t v = 0; v < r.a.size(); ++v) r.a[v] = plus(times(p, x.at(v)), times(q, y.at(v)));
  r.c = plus(times(p, x.c), times(q, y.c));
  return r;
}

Integer gcd_of(const Row& row) {
  Integer g = 0;
  for (const Integer a : row.a) g = std::gcd(g, a);
  return g;
}

bool constant(const Row& row) {
  return std::all_of(row.a.begin(), row.a.end(), [](Integer a) { return a == 0; });
}

bool normalise(System& s) {
  if (!normal_zero(s.zero) || !normal_positive(s)) return false;
  return normal_zero(s.zero) && normal_congruent(s);
}

void substitute(System& s, std::size_t v, const Row& with) {
  const auto in = [&](Row& row) {
    const Integer k = row.at(v);
    if (k == 0) return;
    row.a[v] = 0;
    row = combine(1, row, k, with);
  };
  for (Row& row : s.zero) in(row);
  for (Row& row : s.positive) in(row);
  for (auto& entry : s.congruent) in(entry.first);
}

Bounds bounds(const System& s, std::size_t v) {
  Bounds b;
  bool unit_below = true, unit_above = true;
  for (std::size_t k = 0; k < s.positive.size(); ++k) {
    const Integer a = s.positive[k].at(v);
    if (a > 0) b.below.push_back(k);
    if (a < 0) b.above.push_back(k);
    if (a > 1) unit_below = false;
    if (a < -1) unit_above = false;
  }
  b.exact = b.below.empty() || b.above.empty() || unit_below || unit_above;
  return b;
}

System eliminate(const System& s, std::size_t v, const Bounds& b, bool dark) {
  System r;
  r.variables = s.variables;
  r.zero = s.zero;
  r.congruent = s.congruent;
  for (const Row& row : s.positive) {
    if (row.at(v) == 0) r.positive.push_back(row);
  }
  for (const std::size_t l : b.below) {
    for (const std::size_t u : b.above) {
      const Integer p = s.positive[l].at(v);
      const Integer q = -s.positive[u].at(v);
      Row row = combine(q, s.positive[l], p, s.positive[u]);
      if (dark) row.c = plus(row.c, -times(p - 1, q - 1));
      r.positive.push_back(std::move(row));
    }
  }
  return r;
}

void System::add(const System& other) {
  zero.insert(zero.end(), other.zero.begin(), other.zero.end());
  positive.insert(positive.end(), other.positive.begin(), other.positive.end());
  congruent.insert(congruent.end(), other.congruent.begin(), other.congruent.end());
}

}  // namespace tessera::compiler::analysis
