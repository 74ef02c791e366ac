// Equations are solved by unimodular substitution, so each step has an inverse and a solution of
// the last system becomes one of the first. Inequalities: variables are eliminated as long as that
// is exact; else the real shadow may say no, the dark shadow yes, and between them splinters
// decide.
#include <algorithm>
#include <cstdlib>

#include "compiler/analysis/rows.hpp"

namespace tessera::compiler::analysis {
namespace {

using Point = std::vector<Integer>;

Integer value(const Row& row, const Point& p) {
  Integer sum = row.c;
  for (std::size_t v = 0; v < row.a.size(); ++v) sum = plus(sum, times(row.a[v], p[v]));
  return sum;
}

class Solver {
 public:
  explicit Solver(Effort& effort) : effort_(effort) {}

  Answer run(System s, Point& point) {
    for (const auto& [row, m] : s.congruent) {  // row = m * q
      Row equation = row;
      equation.ref(s.variable()) = -m;
      s.zero.push_back(std::move(equation));
    }
    s.congruent.clear();
    return solve(std::move(s), point);
  }

 private:
  Answer solve(System s, Point& point) {
    if (!normalise(s)) return Answer::no;
    if (!effort_.spend(1 + static_cast<std::int64_t>(s.positive.size()))) return Answer::unknown;
    if (!s.zero.empty()) return equation(std::move(s), point);
    if (s.positive.empty()) {
      point.assign(s.variables, 0);
      return Answer::yes;
    }
    return inequalities(s, point);
  }

  Answer equation(System s, Point& point) {
    std::size_t best = 0, v = 0;
    Integer least = 0;
    for (std::size_t k = 0; k < s.zero.size(); ++k) {
      for (std::size_t j = 0; j < s.zero[k].a.size(); ++j) {
        const Integer a = std::abs(s.zero[k].a[j]);
        if (a != 0 && (least == 0 || a < least)) {
          least = a;
          best = k;
          v = j;
        }
      }
    }
    const Row row = s.zero[best];
    const Integer a = row.a[v];
    // x_v := t - sum of nearest(a_j / a) x_j, with t in the place of x_v; when |a| is 1 the rest of
    // the row is nothing and t is known.
    Row with;
    for (std::size_t j = 0; j < row.a.size(); ++j) {
      if (j != v) with.ref(j) = -nearest_div(row.a[j], a);
    }
    if (least == 1) {
      with.c = -row.c * a;
      s.zero.erase(s.zero.begin() + static_cast<std::ptrdiff_t>(best));
    } else {
      with.ref(v) = 1;
    }
    substitute(s, v, with);
    const Answer answer = solve(std::move(s), point);
    if (answer == Answer::yes) point[v] = value(with, point);
    return answer;
  }

  Answer inequalities(const System& s, Point& point) {
    std::size_t best = s.variables;
    std::size_t cost = 0;
    bool exact = false;
    for (std::size_t v = 0; v < s.variables; ++v) {
      const Bounds b = bounds(s, v);
      if (b.below.empty() && b.above.empty()) continue;
      const std::size_t c = b.below.size() * b.above.size();
      if (best == s.variables || (b.exact && !exact) || (b.exact == exact && c < cost)) {
        best = v;
        cost = c;
        exact = b.exact;
      }
    }
    if (static_cast<std::int64_t>(cost) > effort_.left) return Answer::unknown;  // rows to be made
    const Bounds b = bounds(s, best);
    const Answer real = solve(eliminate(s, best, b, false), point);
    if (exact || real == Answer::no) {
      if (real == Answer::yes) choose(s, best, b, point);
      return real;
    }
    Point inner;
    const Answer dark = solve(eliminate(s, best, b, true), inner);
    if (dark == Answer::yes) {
      point = std::move(inner);
      choose(s, best, b, point);
      return Answer::yes;
    }
    return splinters(s, best, b, point, dark == Answer::unknown);
  }

  // choose gives variable v the least value its bounds allow (the greatest, if none is below).
  static void choose(const System& s, std::size_t v, const Bounds& b, Point& point) {
    point[v] = 0;
    bool first = true;
    Integer chosen = 0;
    for (const std::size_t k : b.below.empty() ? b.above : b.below) {
      const Integer a = s.positive[k].at(v);
      const Integer rest = value(s.positive[k], point);
      const Integer bound = a > 0 ? -floor_div(rest, a) : floor_div(rest, -a);
      if (first || (a > 0 ? bound > chosen : bound < chosen)) chosen = bound;
      first = false;
    }
    point[v] = chosen;
  }

  // A solution outside the dark shadow lies close to some lower bound.
  Answer splinters(const System& s, std::size_t v, const Bounds& b, Point& point, bool unknown) {
    Integer most = 0;
    for (const std::size_t u : b.above) most = std::max(most, -s.positive[u].at(v));
    for (const std::size_t l : b.below) {
      const Integer a = s.positive[l].at(v);
      const Integer last = floor_div(plus(times(most, a), -plus(most, a)), most);
      for (Integer k = 0; k <= last; ++k) {
        if (effort_.used_up()) return Answer::unknown;  // there may be a million more
        System splinter = s;
        Row row = s.positive[l];
        row.c = plus(row.c, -k);
        splinter.zero.push_back(std::move(row));
        const Answer answer = solve(std::move(splinter), point);
        if (answer == Answer::yes) return answer;
        unknown = unknown || answer == Answer::unknown;
      }
    }
    return unknown ? Answer::unknown : Answer::no;
  }

  Effort& effort_;
};

}  // namespace

Answer solve(const System& system, Effort& effort, std::vector<Integer>* witness) {
  try {
    Point point;
    const Answer answer = Solver(effort).run(system, point);
    if (witness != nullptr && answer == Answer::yes) {
      point.resize(system.variables);
      *witness = std::move(point);
    }
    return answer;
  } catch (const Overflow&) {
    return Answer::unknown;
  }
}

}  // namespace tessera::compiler::analysis
