// The arithmetic of the analysis against plain enumeration: random systems of constraints, and
// random programs of loops.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <set>

#include "compiler/analysis/integer_system.hpp"
#include "support.hpp"

namespace tessera::compiler::testing {
namespace {

using analysis::Answer;
using analysis::Effort;
using analysis::Integer;
using analysis::Row;
using analysis::System;
using Point = std::vector<Integer>;

constexpr Integer kBox = 4;  // variables are between -kBox and kBox

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  int operator()(int low, int high) { return std::uniform_int_distribution(low, high)(engine_); }
  bool one_in(int n) { return (*this)(1, n) == 1; }

 private:
  std::mt19937 engine_;
};

Integer value(const Row& row, const Point& p) {
  Integer sum = row.c;
  for (std::size_t v = 0; v < row.a.size(); ++v) sum += row.a[v] * p[v];
  return sum;
}

bool holds(const System& s, const Point& p) {
  for (const Row& row : s.zero) {
    if (value(row, p) != 0) return false;
  }
  for (const Row& row : s.positive) {
    if (value(row, p) < 0) return false;
  }
  for (const auto& [row, m] : s.congruent) {
    if (value(row, p) % m != 0) return false;
  }
  return true;
}

void each_point(std::size_t variables, const std::function<void(const Point&)>& f) {
  Point p(variables, -kBox);
  for (;;) {
    f(p);
    std::size_t v = 0;
    while (v < variables && p[v] == kBox) p[v++] = -kBox;
    if (v == variables) return;
    ++p[v];
  }
}

Row random_row(Dice& dice, std::size_t variables) {
  Row row;
  for (std::size_t v = 0; v < variables; ++v) row.ref(v) = dice.one_in(3) ? 0 : dice(-5, 5);
  row.c = dice(-8, 8);
  return row;
}

System random_system(Dice& dice, std::size_t variables, int rows) {
  System s;
  s.variables = variables;
  for (int k = 0; k < rows; ++k) {
    if (dice.one_in(4)) {
      s.zero.push_back(random_row(dice, variables));
    } else if (dice.one_in(6)) {
      s.congruent.emplace_back(random_row(dice, variables), dice(2, 5));
    } else {
      s.positive.push_back(random_row(dice, variables));
    }
  }
  return s;
}

System boxed(System s) {
  for (std::size_t v = 0; v < s.variables; ++v) {
    for (const int sign : {1, -1}) {
      Row row;
      row.ref(v) = sign;
      row.c = kBox;
      s.positive.push_back(row);
    }
  }
  return s;
}

TEST(IntegerSystem, SolvesAsEnumerationDoes) {
  Dice dice(1);
  int solvable = 0;
  for (int round = 0; round < 4000; ++round) {
    const auto variables = static_cast<std::size_t>(dice(1, 4));
    const System s = boxed(random_system(dice, variables, dice(1, 4)));
    bool any = false;
    each_point(variables, [&](const Point& p) { any = any || holds(s, p); });
    Effort effort{100'000};
    Point witness;
    const Answer answer = solve(s, effort, &witness);
    ASSERT_EQ(answer, any ? Answer::yes : Answer::no) << "round " << round;
    if (any) {
      ASSERT_TRUE(holds(s, witness)) << "round " << round;
    }
    solvable += any;
  }
  EXPECT_GT(solvable, 500);
  EXPECT_LT(solvable, 3500);
}

TEST(IntegerSystem, ProjectsAsEnumerationDoes) {
  Dice dice(2);
  int exact = 0, rounds = 0;
  for (int round = 0; round < 1500; ++round) {
    const System s = boxed(random_system(dice, 3, dice(1, 3)));
    const std::vector<bool> keep = {true, dice.one_in(2), false};
    std::set<Point> shadows;
    const auto shadow = [&](const Point& p) { return Point{p[0], keep[1] ? p[1] : 0}; };
    each_point(3, [&](const Point& p) {
      if (holds(s, p)) shadows.insert(shadow(p));
    });
    Effort effort{100'000};
    System over, under;
    ASSERT_TRUE(project(s, keep, analysis::Shadow::over, effort, over)) << "round " << round;
    ASSERT_TRUE(project(s, keep, analysis::Shadow::under, effort, under)) << "round " << round;
    bool same = true;
    each_point(3, [&](const Point& p) {
      if (p[2] != 0 || (!keep[1] && p[1] != 0)) return;
      const bool real = shadows.count(shadow(p)) != 0;
      EXPECT_TRUE(!real || holds(over, p)) << "round " << round;
      EXPECT_TRUE(real || !holds(under, p)) << "round " << round;
      same = same && holds(over, p) == real && holds(under, p) == real;
    });
    if (HasFailure()) return;
    exact += same;
    ++rounds;
  }
  EXPECT_GT(exact, rounds / 2);
}

TEST(IntegerSystem, FindsPointsOutside) {
  Dice dice(3);
  for (int round = 0; round < 1500; ++round) {
    const System s = boxed(random_system(dice, 3, dice(0, 2)));
    std::vector<System> covers;
    for (int k = dice(0, 3); k > 0; --k) covers.push_back(random_system(dice, 3, dice(1, 2)));
    bool any = false;
    each_point(3, [&](const Point& p) {
      bool inside = false;
      for (const System& c : covers) inside = inside || holds(c, p);
      any = any || (holds(s, p) && !inside);
    });
    Effort effort{1'000'000};
    Point witness;
    ASSERT_EQ(outside(s, covers, effort, &witness), any ? Answer::yes : Answer::no) << "round " << round;
    if (!any) continue;
    ASSERT_TRUE(holds(s, witness));
    for (const System& c : covers) ASSERT_FALSE(holds(c, witness));
  }
}

// A random nest of loops around one statement, as text and as what it does.
class Nest {
 public:
  Nest(Dice& dice, bool only_plain) : dice_(dice), plain_(only_plain) {
    const int depth = dice(0, 3);
    for (int k = 0; k < depth; ++k) {
      const Term first = k > 0 && dice.one_in(4) ? counter(dice(0, k - 1)) : number(dice(0, 2));
      const Term last = k > 0 && dice.one_in(4) ? counter(dice(0, k - 1)) : number(dice(0, 4));
      text_ += "for " + name(k) + " = " + first.text + ".." + last.text + " ";
      loops_.emplace_back(first, last);
    }
    if (depth > 0 && dice.one_in(3)) condition();
    for (int k = 0; k < 2; ++k) indices_.push_back(index());
  }

  std::string element() const { return "x[" + indices_[0].text + "][" + indices_[1].text + "]"; }
  const std::string& loops() const { return text_; }

  void each(const std::function<void(std::pair<int, int>)>& f) const {
    std::vector<int> counters;
    run(counters, f);
  }

 private:
  struct Term {
    std::string text;
    std::function<int(const std::vector<int>&)> value;
  };

  static std::string name(int k) { return std::string(1, static_cast<char>('i' + k)); }
  static Term number(int n) {
    return {std::to_string(n), [n](const std::vector<int>&) { return n; }};
  }
  static Term counter(int k) {
    return {name(k), [k](const std::vector<int>& c) { return c[static_cast<std::size_t>(k)]; }};
  }

  Term sum() {
    Term t = number(dice_(0, 5));
    for (int k = 0; k < static_cast<int>(loops_.size()); ++k) {
      if (dice_.one_in(3)) continue;
      const int c = plain_ ? dice_(-3, 3) : dice_(0, 3);
      t = {t.text + " + " + std::to_string(c) + " * " + name(k),
           [t, c, k](const std::vector<int>& v) { return t.value(v) + c * v[static_cast<std::size_t>(k)]; }};
    }
    return t;
  }
  static Term negative(const Term& t) {
    return {"0 - (" + t.text + ")", [t](const std::vector<int>& v) { return -t.value(v); }};
  }
  Term index() {
    const Term t = plain_ || !dice_.one_in(3) ? sum() : negative(sum());
    if (plain_ || !dice_.one_in(3)) return t;
    const int by = dice_(2, 3);
    if (dice_.one_in(2)) {
      return {"(" + t.text + ") / " + std::to_string(by),
              [t, by](const std::vector<int>& v) { return t.value(v) / by; }};
    }
    return {"(" + t.text + ") % " + std::to_string(by), [t, by](const std::vector<int>& v) { return t.value(v) % by; }};
  }
  void condition() {
    static const char* const kSigns[] = {"<", "<=", "==", "!="};
    const Term a = index();
    const Term b = index();
    const int sign = dice_(0, 3);
    text_ += "if " + a.text + " " + kSigns[sign] + " " + b.text + " ";
    condition_ = [=](const std::vector<int>& v) {
      const int d = a.value(v) - b.value(v);
      return sign == 0 ? d < 0 : sign == 1 ? d <= 0 : sign == 2 ? d == 0 : d != 0;
    };
  }

  void run(std::vector<int>& counters, const std::function<void(std::pair<int, int>)>& f) const {
    if (counters.size() < loops_.size()) {
      const auto& [first, last] = loops_[counters.size()];
      const int end = last.value(counters);
      for (int k = first.value(counters); k <= end; ++k) {
        counters.push_back(k);
        run(counters, f);
        counters.pop_back();
      }
      return;
    }
    if (condition_ && !condition_(counters)) return;
    f({indices_[0].value(counters), indices_[1].value(counters)});
  }

  Dice& dice_;
  bool plain_;
  std::string text_;
  std::vector<std::pair<Term, Term>> loops_;
  std::function<bool(const std::vector<int>&)> condition_;
  std::vector<Term> indices_;
};

const char* const kHead =
    "C++ sub set(int v, name x) ${{ x = v; $}}\nC++ sub show(int v) ${{ $}}\nsub main() {\n  df "
    "x;\n";

bool has(const Output& out, const std::string& code) {
  for (const Diagnostic& d : out.diagnostics) {
    if (d.code == code) return true;
  }
  return false;
}

TEST(RandomLoops, AssignedTwiceExactlyWhenEnumerationSaysSo) {
  Dice dice(4);
  const Workspace w;
  int twice = 0;
  for (int round = 0; round < 1200; ++round) {
    std::map<std::pair<int, int>, int> assigned;
    std::string text = kHead;
    for (int k = dice(1, 3); k > 0; --k) {
      const Nest nest(dice, dice.one_in(2));
      text += "  " + nest.loops() + "set(1, " + nest.element() + ");\n";
      nest.each([&](std::pair<int, int> at) { ++assigned[at]; });
    }
    bool wrong = false;
    for (const auto& [at, n] : assigned) wrong = wrong || n > 1;
    const Output out = translate(w.write("prog.fa", text + "  show(x[0][0]);\n}\n"), {});
    ASSERT_EQ(has(out, "T310"), wrong) << "round " << round << "\n" << text;
    twice += wrong;
  }
  EXPECT_GT(twice, 200);
  EXPECT_LT(twice, 1000);
}

// What the first part of a condition leaves out is not read. (All of the first were told of, with T311.)
TEST(Flow, ReadsThatAreLeftOut) {
  const Workspace w;
  const auto said = [&](const std::string& goes_on) {
    const std::string text =
        std::string(kHead) + "  df a, n;\n  while " + goes_on + ", i = 0 .. out n set(1, a[i + 1]);\n";
    return has(translate(w.write("prog.fa", text + "  show(n);\n}\n"), {}), "T311");
  };
  for (const char* c : {"i == 0 || a[i] != 3", "i < 1 || a[i] != 3", "i == 0 ? 1 : a[i] != 3", "i > 0 ? a[i] != 3 : 1",
                        "!(i > 0 && a[i] == 3)", "i < 3 && (i == 0 || a[i] != 3)"}) {
    EXPECT_FALSE(said(c)) << c;
  }
  for (const char* c : {"i == 1 || a[i] != 3", "i == 0 && a[i] != 3", "i != 0 ? 1 : a[i] != 3"})
    EXPECT_TRUE(said(c)) << c;
}

TEST(RandomLoops, NeverAssignedOnlyWhenEnumerationSaysSo) {
  Dice dice(5);
  const Workspace w;
  int missing = 0, found = 0, silent = 0;
  for (int round = 0; round < 1200; ++round) {
    std::set<std::pair<int, int>> assigned;
    std::string text = kHead;
    for (int k = dice(1, 3); k > 0; --k) {
      const Nest nest(dice, dice.one_in(2));
      text += "  " + nest.loops() + "set(1, " + nest.element() + ");\n";
      nest.each([&](std::pair<int, int> at) { assigned.insert(at); });
    }
    // Now and then a read of just what the first loops assign.
    const Nest nest(dice, dice.one_in(2));
    bool wrong = false;
    text += "  " + nest.loops() + "show(" + nest.element() + ");\n";
    nest.each([&](std::pair<int, int> at) { wrong = wrong || assigned.count(at) == 0; });
    const Output out = translate(w.write("prog.fa", text + "}\n"), {});
    const bool said = has(out, "T311");
    ASSERT_TRUE(wrong || !said) << "round " << round << "\n" << text;
    missing += wrong;
    found += said;
    silent += !wrong;
  }
  EXPECT_GT(silent, 50);
  EXPECT_GT(found, missing * 95 / 100) << found << " of " << missing;
}

}  // namespace
}  // namespace tessera::compiler::testing
