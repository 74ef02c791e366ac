// Projection, and sets of points outside of others.
#include <algorithm>
#include <cstdlib>

#include "compiler/analysis/rows.hpp"

namespace tessera::compiler::analysis {
namespace {

constexpr std::size_t kMostRows = 120;

// removable lists the variables of the row that are not kept.
std::vector<std::size_t> removable(const Row& row, const std::vector<bool>& keep) {
  std::vector<std::size_t> all;
  for (std::size_t v = 0; v < row.a.size(); ++v) {
    if (row.a[v] != 0 && (v >= keep.size() || !keep[v])) all.push_back(v);
  }
  return all;
}

// use_equation removes one variable with the help of zero[k]: a unimodular step while several of
// the equation's variables go, then `a x + f = 0` says that f is a multiple of a and what x is.
void use_equation(System& s, std::size_t k, const std::vector<std::size_t>& going) {
  const Row row = s.zero[k];
  const std::size_t v = *std::min_element(going.begin(), going.end(),
                                          [&](auto x, auto y) { return std::abs(row.a[x]) < std::abs(row.a[y]); });
  const Integer a = row.a[v];
  if (going.size() > 1) {
    Row with;
    with.ref(v) = 1;
    for (const std::size_t j : going) {
      if (j != v) with.ref(j) = -nearest_div(row.a[j], a);
    }
    substitute(s, v, with);
    return;
  }
  s.zero.erase(s.zero.begin() + static_cast<std::ptrdiff_t>(k));
  Row f = row;
  f.a[v] = 0;
  const Integer size = std::abs(a);
  const auto in = [&](Row& other) {  // size * other, with size * x = -sign(a) * f
    const Integer b = other.at(v);
    if (b == 0) return;
    other.a[v] = 0;
    other = combine(size, other, a > 0 ? -b : b, f);
  };
  for (Row& other : s.zero) in(other);
  for (Row& other : s.positive) in(other);
  for (auto& [other, m] : s.congruent) {
    if (other.at(v) != 0) m = times(m, size);
    in(other);
  }
  if (size > 1) s.congruent.emplace_back(std::move(f), size);
}

// A congruence with a variable that goes becomes an equation with one more such variable.
void open_congruences(System& s, const std::vector<bool>& keep) {
  std::vector<std::pair<Row, Integer>> kept;
  for (auto& [row, m] : s.congruent) {
    if (removable(row, keep).empty()) {
      kept.emplace_back(std::move(row), m);
      continue;
    }
    row.ref(s.variable()) = -m;
    s.zero.push_back(std::move(row));
  }
  s.congruent = std::move(kept);
}

bool equations(System& s, const std::vector<bool>& keep, Effort& effort) {
  for (;;) {
    if (!normalise(s)) return false;
    open_congruences(s, keep);
    bool found = false;
    for (std::size_t k = 0; k < s.zero.size() && !found; ++k) {
      const auto going = removable(s.zero[k], keep);
      if (going.empty()) continue;
      if (!effort.spend(1)) throw Overflow{};
      use_equation(s, k, going);
      found = true;
    }
    if (!found) return true;
  }
}

System nothing(std::size_t variables) {
  System s;
  s.variables = variables;
  s.positive.push_back({{}, -1});
  return s;
}

// alternatives lists systems that together say that `c` does not hold; extra variables are numbered
// from `fresh`.
std::vector<System> opposite_of_zero(const Row& row) {
  std::vector<System> all(2);
  all[0].positive.push_back(combine(1, row, 0, {}));
  all[1].positive.push_back(combine(-1, row, 0, {}));
  for (System& s : all) s.positive[0].c = plus(s.positive[0].c, -1);
  return all;
}

System opposite_of_positive(const Row& row) {
  System s;
  s.positive.push_back(combine(-1, row, 0, {}));
  s.positive[0].c = plus(s.positive[0].c, -1);
  return s;
}

// row = m * q + t, 1 <= t <= m - 1
System opposite_of_congruent(const Row& row, Integer m, std::size_t fresh) {
  System s;
  Row equation = row;
  equation.ref(fresh) = -m;
  equation.ref(fresh + 1) = -1;
  s.zero.push_back(std::move(equation));
  Row least, most;
  least.ref(fresh + 1) = 1;
  least.c = -1;
  most.ref(fresh + 1) = -1;
  most.c = m - 1;
  s.positive = {least, most};
  return s;
}

struct Search {
  const std::vector<System>& covers;
  Effort& effort;
  std::vector<Integer>* witness;
  System* found;

  Answer run(const System& system, std::size_t k) {
    const Answer inside = solve(system, effort, k == covers.size() ? witness : nullptr);
    if (k == covers.size() && inside == Answer::yes && found != nullptr) *found = system;
    if (inside != Answer::yes || k == covers.size()) return inside;
    System rest = system;  // what holds besides: the constraints of the cover seen so far
    bool unknown = false;
    const auto with = [&](const System& more, std::size_t extra) {
      System next = rest;
      next.variables += extra;
      next.add(more);
      const Answer answer = run(next, k + 1);
      unknown = unknown || answer == Answer::unknown;
      return answer == Answer::yes;
    };
    for (const Row& row : covers[k].zero) {
      for (const System& s : opposite_of_zero(row)) {
        if (with(s, 0)) return Answer::yes;
      }
      rest.zero.push_back(row);
    }
    for (const Row& row : covers[k].positive) {
      if (with(opposite_of_positive(row), 0)) return Answer::yes;
      rest.positive.push_back(row);
    }
    for (const auto& [row, m] : covers[k].congruent) {
      if (with(opposite_of_congruent(row, m, rest.variables), 2)) return Answer::yes;
      rest.congruent.emplace_back(row, m);
    }
    return unknown ? Answer::unknown : Answer::no;
  }
};

}  // namespace

bool project(System s, const std::vector<bool>& keep, Shadow shadow, Effort& effort, System& result) {
  const std::size_t variables = s.variables;
  try {
    for (;;) {
      if (!equations(s, keep, effort)) {
        result = nothing(variables);
        return true;
      }
      std::size_t best = s.variables;
      std::size_t cost = 0;
      bool exact = false;
      for (std::size_t v = 0; v < s.variables; ++v) {
        if (v < keep.size() && keep[v]) continue;
        const Bounds b = bounds(s, v);
        if (b.below.empty() && b.above.empty()) continue;
        const std::size_t c = b.below.size() * b.above.size();
        if (best == s.variables || (b.exact && !exact) || (b.exact == exact && c < cost)) {
          best = v;
          cost = c;
          exact = b.exact;
        }
      }
      if (best == s.variables) break;
      if (!effort.spend(static_cast<std::int64_t>(1 + cost)) || s.positive.size() > kMostRows) {
        return false;
      }
      s = eliminate(s, best, bounds(s, best), shadow == Shadow::under);
    }
    s.variables = variables;
    result = std::move(s);
    return true;
  } catch (const Overflow&) {
    return false;
  }
}

Answer outside(const System& system, const std::vector<System>& covers, Effort& effort, std::vector<Integer>* witness,
               System* found) {
  try {
    return Search{covers, effort, witness, found}.run(system, 0);
  } catch (const Overflow&) {
    return Answer::unknown;
  }
}

}  // namespace tessera::compiler::analysis
