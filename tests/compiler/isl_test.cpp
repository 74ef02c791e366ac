// The solver of the analysis against isl, a library for sets of integers, with questions of the kind that the analysis
// poses: two instances of a statement in nests of loops with bounds that are numbers, parameters or counters further
// out; do they name the same fragment? More of them than a test takes: TESSERA_SEEDS=1000 compiler_test
// --gtest_filter='Isl.*'.
#include <gtest/gtest.h>
#include <isl/cpp.h>
#include <isl/mat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "compiler/analysis/integer_system.hpp"

namespace tessera::compiler::testing {
namespace {

using analysis::Answer;
using analysis::Effort;
using analysis::Integer;
using analysis::Row;
using analysis::Shadow;
using analysis::System;

constexpr unsigned long kMostOperations = 30'000;  // of isl, for one question

class Isl {
 public:
  // set: all points of the first `variables`, be there any values of the others.
  isl::set set(const System& s, std::size_t variables) {
    const std::size_t all = s.variables + s.congruent.size();
    isl_mat* zero = matrix(s.zero.size() + s.congruent.size(), all);
    isl_mat* positive = matrix(s.positive.size(), all);
    for (std::size_t k = 0; k < s.zero.size(); ++k) zero = with(zero, k, s.zero[k], all);
    for (std::size_t k = 0; k < s.congruent.size(); ++k) {
      Row row = s.congruent[k].first;
      row.ref(s.variables + k) = -s.congruent[k].second;
      zero = with(zero, s.zero.size() + k, row, all);
    }
    for (std::size_t k = 0; k < s.positive.size(); ++k) positive = with(positive, k, s.positive[k], all);
    isl_basic_set* made =
        isl_basic_set_from_constraint_matrices(isl_space_set_alloc(context_.get(), 0, number(all)), zero, positive,
                                               isl_dim_set, isl_dim_cst, isl_dim_div, isl_dim_param);
    return isl::manage(isl_set_from_basic_set(
        isl_basic_set_project_out(made, isl_dim_set, number(variables), number(all - variables))));
  }
  // shadow: the points for which the variables that are not kept can be chosen; any value stands for those.
  static isl::set shadow(isl::set of, const std::vector<bool>& keep) {
    isl_set* set = of.release();
    for (std::size_t v = 0; v < keep.size(); ++v) {
      if (!keep[v]) set = isl_set_eliminate(set, isl_dim_set, number(v), 1);
    }
    return isl::manage(set);
  }
  // asked: the answer, unless it takes isl too long.
  template <class F>
  auto asked(F question) -> std::optional<decltype(question())> {
    isl_ctx_reset_operations(context_.get());
    isl_ctx_set_max_operations(context_.get(), kMostOperations);
    try {
      return question();
    } catch (const isl::exception_quota&) {
      return std::nullopt;
    }
  }

 private:
  static unsigned number(std::size_t n) { return static_cast<unsigned>(n); }
  isl_mat* matrix(std::size_t rows, std::size_t variables) {
    return isl_mat_alloc(context_.get(), number(rows), number(variables + 1));
  }
  isl_mat* with(isl_mat* m, std::size_t k, const Row& row, std::size_t variables) {
    for (std::size_t v = 0; v <= variables; ++v) {
      isl_val* value = isl_val_int_from_si(context_.get(), v == variables ? row.c : row.at(v));
      m = isl_mat_set_element_val(m, static_cast<int>(k), static_cast<int>(v), value);
    }
    return m;
  }
  std::unique_ptr<isl_ctx, void (*)(isl_ctx*)> context_{isl_ctx_alloc(), [](isl_ctx* c) { isl_ctx_free(c); }};
};

// Posed: what could be asked about two accesses, as query.cpp writes it down.
class Posed {
 public:
  explicit Posed(std::uint32_t seed) : dice_(seed) {
    const int scales[] = {4, 12, 12, 1000, 1'000'000};
    scale_ = scales[roll(0, 4)];
    for (int k = roll(0, 2); k > 0; --k) common_.push_back(fresh());
    std::vector<std::size_t> one = common_, two = common_;
    nest(one, roll(0, 3));
    System first = std::exchange(system_, System{});
    system_.variables = first.variables;
    nest(two, one_in(3) ? roll(0, 3) : static_cast<int>(one.size() - common_.size()));
    reading_ = system_;
    reading_.variables = 0;
    system_.add(first);
    for (int k = roll(1, 3); k > 0; --k) {  // equal indices
      Row row = index(one);
      const Row other = one.size() == two.size() && !one_in(3) ? renamed(last_, one, two) : index(two);
      for (std::size_t v = 0; v < other.a.size(); ++v) row.ref(v) -= other.a[v];
      row.c -= other.c;
      system_.zero.push_back(std::move(row));
    }
    if (one.size() == two.size() && one.size() > common_.size() && one_in(2)) {  // ... of different instances
      for (std::size_t k = common_.size(); k < one.size(); ++k) {
        Row row;
        row.ref(two[k]) += 1;
        row.ref(one[k]) -= 1;
        if (k + 1 < one.size() && one_in(2)) {
          system_.zero.push_back(std::move(row));
          continue;
        }
        row.c = -1;
        system_.positive.push_back(std::move(row));
        break;
      }
    }
    keep_.resize(system_.variables);
    const bool with_two = one_in(2);
    for (const std::size_t v : with_two ? two : common_) keep_[v] = true;
    reading_.variables = system_.variables;
  }

  const System& meeting() const { return system_; }        // both instances run, and name the same fragment
  const System& reading() const { return reading_; }       // the second one runs
  const std::vector<bool>& keep() const { return keep_; }  // what the first one has to be there for

 private:
  int roll(int low, int high) { return std::uniform_int_distribution(low, high)(dice_); }
  bool one_in(int n) { return roll(1, n) == 1; }
  std::size_t fresh() { return system_.variable(); }
  Integer constant() { return roll(-scale_ / 4, scale_); }

  Row bound(const std::vector<std::size_t>& around) {
    Row row;
    row.c = constant();
    if (!around.empty() && one_in(3)) {
      row.c = roll(-1, 1);
      row.ref(around[static_cast<std::size_t>(roll(0, static_cast<int>(around.size()) - 1))]) =
          one_in(4) ? roll(-2, 3) : 1;
    }
    return row;
  }
  void positive(std::size_t v, Integer sign, Row rest, Integer of_rest) {
    for (Integer& a : rest.a) a *= of_rest;
    rest.c *= of_rest;
    rest.ref(v) += sign;
    system_.positive.push_back(std::move(rest));
  }
  void nest(std::vector<std::size_t>& around, int depth) {
    for (; depth > 0; --depth) {
      const std::size_t counter = fresh();
      positive(counter, 1, bound(around), -1);
      if (!one_in(8)) positive(counter, -1, bound(around), 1);  // not a `while`
      around.push_back(counter);
      if (one_in(6)) system_.positive.push_back(index(around));
    }
  }
  // index: `2 * i + j - 1`, or in it a quotient.
  Row index(const std::vector<std::size_t>& around) {
    Row row;
    row.c = one_in(2) ? 0 : roll(-3, 3);
    for (const std::size_t v : around) {
      if (!one_in(3)) row.ref(v) = one_in(2) ? 1 : one_in(6) ? scale_ : roll(-4, 4);
    }
    last_ = row;
    if (!one_in(5)) return row;
    const Integer divisor = one_in(4) ? scale_ : roll(2, 5);
    const std::size_t quotient = fresh();
    Row low = row;
    low.ref(quotient) -= divisor;
    Row high = low;
    for (Integer& a : high.a) a = -a;
    high.c = divisor - 1 - low.c;
    system_.positive.push_back(low);
    system_.positive.push_back(std::move(high));
    if (one_in(2)) return low;  // % instead of /
    Row result;
    result.ref(quotient) = 1;
    return result;
  }
  static Row renamed(const Row& row, const std::vector<std::size_t>& from, const std::vector<std::size_t>& to) {
    Row result;
    result.c = row.c;
    for (std::size_t k = 0; k < from.size(); ++k) result.ref(to[k]) += row.at(from[k]);
    return result;
  }

  std::mt19937 dice_;
  int scale_ = 0;
  System system_, reading_;
  std::vector<std::size_t> common_;
  std::vector<bool> keep_;
  Row last_;
};

bool fulfils(const System& s, const std::vector<Integer>& p) {
  const auto value = [&](const Row& row) {
    Integer sum = row.c;
    for (std::size_t v = 0; v < row.a.size(); ++v) sum += row.a[v] * p[v];
    return sum;
  };
  const auto all = [&](const auto& rows, auto good) { return std::all_of(rows.begin(), rows.end(), good); };
  return all(s.zero, [&](const Row& r) { return value(r) == 0; }) &&
         all(s.positive, [&](const Row& r) { return value(r) >= 0; }) &&
         all(s.congruent, [&](const auto& c) { return value(c.first) % c.second == 0; });
}

// each_posed calls f for `rounds` questions of each seed.
void each_posed(std::uint32_t rounds, const std::function<void(const Posed&)>& f) {
  const char* more = std::getenv("TESSERA_SEEDS");
  const auto seeds = static_cast<std::uint32_t>(more == nullptr ? 1 : std::atoi(more));
  for (std::uint32_t k = 0; k < seeds * rounds && !::testing::Test::HasFailure(); ++k) {
    SCOPED_TRACE("question " + std::to_string(k));
    f(Posed(k));
  }
}

// Counts: how the questions went; a test that always gets one answer shows nothing.
struct Counts {
  int asked = 0, yes = 0, exact = 0, unknown = 0, of_isl_unknown = 0;
  ~Counts() {
    std::printf("%d questions: %d yes, %d exact, %d we did not decide, %d isl did not\n", asked, yes, exact, unknown,
                of_isl_unknown);
    EXPECT_LT(100 * (unknown + of_isl_unknown), asked);
  }
};

TEST(Isl, SolvesTheSame) {
  Isl isl;
  Counts counts;
  each_posed(40'000, [&](const Posed& posed) {
    const System& s = posed.meeting();
    Effort effort{analysis::kOneQuestion};
    std::vector<Integer> witness;
    const auto start = std::chrono::steady_clock::now();
    const Answer answer = solve(s, effort, &witness);
    ASSERT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(TESSERA_SLOWER));
    const auto empty = isl.asked([&] { return isl.set(s, s.variables).is_empty(); });
    ++counts.asked;
    counts.unknown += answer == Answer::unknown;
    counts.of_isl_unknown += !empty;
    if (answer == Answer::unknown || !empty) return;
    ASSERT_EQ(answer == Answer::no, *empty);
    if (answer == Answer::yes) {
      ASSERT_TRUE(fulfils(s, witness));
    }
    counts.yes += answer == Answer::yes;
  });
  EXPECT_GT(5 * counts.yes, counts.asked);
  EXPECT_LT(5 * counts.yes, 4 * counts.asked);
}

TEST(Isl, ProjectsAroundTheSame) {
  Isl isl;
  Counts counts;
  each_posed(20'000, [&](const Posed& posed) {
    const System& s = posed.meeting();
    Effort effort{analysis::kOneQuestion};
    System over, under;
    ++counts.asked;
    if (!project(s, posed.keep(), Shadow::over, effort, over) ||
        !project(s, posed.keep(), Shadow::under, effort, under)) {
      ++counts.unknown;
      return;
    }
    const auto seen = isl.asked([&] {
      const isl::set real = Isl::shadow(isl.set(s, s.variables), posed.keep());
      const isl::set outer = isl.set(over, s.variables), inner = isl.set(under, s.variables);
      EXPECT_TRUE(real.is_subset(outer));
      EXPECT_TRUE(inner.is_subset(real));
      return outer.is_subset(inner);
    });
    counts.of_isl_unknown += !seen;
    counts.exact += seen.value_or(false);
  });
  EXPECT_GT(5 * counts.exact, 4 * counts.asked);
}

TEST(Isl, FindsTheSameOutside) {
  Isl isl;
  Counts counts;
  each_posed(20'000, [&](const Posed& posed) {
    const System& s = posed.reading();
    Effort effort{analysis::kOneQuestion};
    System cover;
    ++counts.asked;
    if (!project(posed.meeting(), posed.keep(), Shadow::over, effort, cover)) {
      ++counts.unknown;
      return;
    }
    std::vector<Integer> witness;
    System found;
    const Answer answer = outside(s, {cover}, effort, &witness, &found);
    const auto empty =
        isl.asked([&] { return isl.set(s, s.variables).subtract(isl.set(cover, s.variables)).is_empty(); });
    counts.unknown += answer == Answer::unknown;
    counts.of_isl_unknown += !empty;
    if (answer == Answer::unknown || !empty) return;
    ASSERT_EQ(answer == Answer::no, *empty);
    if (answer == Answer::no) return;
    ++counts.yes;
    ASSERT_TRUE(fulfils(s, witness));
    ASSERT_FALSE(fulfils(cover, witness));
    ASSERT_TRUE(fulfils(found, witness));
  });
  EXPECT_GT(5 * counts.yes, counts.asked);
  EXPECT_GT(counts.asked, 20 * counts.unknown);
}

// Where numbers leave 64 bits there is no answer, rather than a wrong one.
TEST(Isl, LargeNumbersMakeNoWrongAnswers) {
  Isl isl;
  std::mt19937_64 dice(1);
  int decided = 0, undecided = 0;
  for (int round = 0; round < 4'000; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    System s;
    s.variables = 3;
    const auto large = [&] { return static_cast<Integer>(dice()) >> (dice() % 60); };
    for (int k = 0; k < 4; ++k) {
      Row row;
      for (std::size_t v = 0; v < 3; ++v) row.ref(v) = large();
      row.c = large();
      (k == 0 ? s.zero : s.positive).push_back(std::move(row));
    }
    Effort effort{analysis::kOneQuestion};
    const Answer answer = solve(s, effort);
    ++(answer == Answer::unknown ? undecided : decided);
    if (answer == Answer::unknown) continue;
    const auto empty = isl.asked([&] { return isl.set(s, s.variables).is_empty(); });
    if (!empty) continue;
    ASSERT_EQ(answer == Answer::no, *empty);
  }
  EXPECT_GT(decided, 100);
  EXPECT_GT(undecided, 100);
}

}  // namespace
}  // namespace tessera::compiler::testing
