// The arithmetic of `proportional`, and the record of a loop's iterations.
#include "balancer/proportional/shares.hpp"

#include <gtest/gtest.h>

#include "balancer/proportional/iterations.hpp"
#include "times.hpp"

namespace tessera::balancer {
namespace {

using Chunks = std::vector<std::int64_t>;

TEST(Shares, ModelledUnits) {
  // 100 units of 10 ms on 4 workers over 1 ms of latency: T = 0.252 s, and a worker of half the
  // power does half as many in it.
  const UnitCost usual{0.010, 0};
  const double t = reference_time(100, 4, usual, 0.001);
  EXPECT_DOUBLE_EQ(t, 0.252);
  EXPECT_DOUBLE_EQ(modelled_units(t, 0.001, usual), 25);
  EXPECT_DOUBLE_EQ(modelled_units(t, 0.001, {0.020, 0}), 12.5);
  EXPECT_DOUBLE_EQ(modelled_units(t, 0.001, {0.010, 0.015}), 10) << "a slow link costs units";
}

TEST(Shares, ALinkSlowerThanTheWorkGetsNothingAndNotLess) {
  EXPECT_EQ(modelled_units(0.01, 1, {0.01, 0}), 0);
  EXPECT_EQ(modelled_units(1, 0, {0, 0}), 0) << "nothing known";
}

TEST(Shares, LargestRemaindersAreRoundedUp) {
  EXPECT_EQ(apportion({1, 1, 1}, 10), (Chunks{4, 3, 3}));
  EXPECT_EQ(apportion({5.2, 3.3, 1.5}, 10), (Chunks{5, 3, 2}));
  EXPECT_EQ(apportion({50, 30, 20}, 10), (Chunks{5, 3, 2})) << "scaled";
  EXPECT_EQ(apportion({1, 3}, 2), (Chunks{1, 1})) << "0.5 and 1.5: a tie goes to the first";
}

TEST(Shares, NegativeIsZeroAndAllZeroIsEqual) {
  EXPECT_EQ(apportion({-5, 1, 1}, 10), (Chunks{0, 5, 5}));
  EXPECT_EQ(apportion({0, 0}, 10), (Chunks{5, 5}));
  EXPECT_EQ(apportion({-1, -1, 0}, 3), (Chunks{1, 1, 1}));
  EXPECT_EQ(apportion({}, 3), Chunks{});
}

TEST(Shares, NothingIsLostInRounding) {
  for (std::int64_t units = 0; units < 200; ++units) {
    const Chunks c = apportion({0.1, 0.2, 0.3, 1e-9, 7, 0}, units);
    std::int64_t sum = 0;
    for (const std::int64_t n : c) sum += n;
    EXPECT_EQ(sum, units);
    EXPECT_EQ(c[5], 0) << "0 gets none of the remainders";
  }
}

TEST(Shares, BalancedIsWithinPercentOfTheMeanWhereThereWereUnits) {
  const std::vector<Measured> even = {{10, 1.0}, {10, 1.1}, {0, 0}};
  EXPECT_DOUBLE_EQ(mean_time(even), 1.05) << "who had no units is left out";
  EXPECT_TRUE(balanced(even, 5));
  EXPECT_FALSE(balanced(even, 4));
  EXPECT_TRUE(balanced({}, 5));
}

TEST(Shares, PatienceGrowsByTwoLatenciesForEachOfFiveRetries) {
  EXPECT_DOUBLE_EQ(patience(0.01, 0.1, 1), 0.02 + 0.1 + 1 + 0.1);
}

// ---- iterations

constexpr double kPercent = 5;

std::vector<Iterations::Worker> team(std::size_t n) {
  std::vector<Iterations::Worker> workers;
  for (std::size_t r = 0; r < n; ++r) {
    workers.push_back({Rank{static_cast<std::int32_t>(r)}, {0.001, 0}, 0, 1});
  }
  return workers;
}

// One iteration: each gets its share and takes `each[r]` ms a unit.
Chunks run(Iterations& i, const std::vector<Iterations::Worker>& workers, std::int64_t units,
           const std::vector<Time>& each, Time& now, std::int64_t probe_after = 100) {
  const Chunks shares = i.shares(workers, units, probe_after);
  for (std::size_t w = 0; w < workers.size(); ++w) i.given(workers[w].rank, shares[w], now);
  Time longest = 0;
  for (std::size_t w = 0; w < workers.size(); ++w) {
    if (shares[w] == 0) continue;
    const Time took = shares[w] * each[w] * kMs;
    longest = std::max(longest, took);
    i.done(workers[w].rank, shares[w], now + took, kPercent);
  }
  EXPECT_FALSE(i.open());
  now += longest;
  return shares;
}

TEST(Iterations, TheSecondFollowsTheRatesOfTheFirst) {
  Iterations i(3);
  Time now = 0;
  EXPECT_EQ(run(i, team(3), 60, {1, 2, 3}, now), (Chunks{20, 20, 20})) << "nothing known: equal";
  EXPECT_EQ(run(i, team(3), 60, {1, 2, 3}, now), (Chunks{33, 16, 11}));
  EXPECT_DOUBLE_EQ(i.rate(Rank{0}), 1000);
}

TEST(Iterations, BalancedProportionsAreUsedAgainUnlessAnEventSaysOtherwise) {
  Iterations i(2);
  Time now = 0;
  run(i, team(2), 1000, {100, 104}, now);
  EXPECT_EQ(run(i, team(2), 1000, {100, 104}, now), (Chunks{510, 490}))
      << "the first shares were guessed: not used again";
  EXPECT_EQ(run(i, team(2), 1000, {104, 100}, now), (Chunks{510, 490})) << "within 5 %: as before";
  EXPECT_EQ(run(i, team(2), 1000, {104, 100}, now), (Chunks{510, 490})) << "and again";
  i.unsettle();
  EXPECT_EQ(run(i, team(2), 1000, {104, 100}, now), (Chunks{490, 510}));
}

TEST(Iterations, OutsideLoadThatHasRisenLowersTheRate) {
  Iterations i(2);
  Time now = 0;
  run(i, team(2), 20, {1, 1}, now);
  auto busy = team(2);
  busy[1].factor = 2;
  i.unsettle();
  EXPECT_EQ(run(i, busy, 30, {1, 2}, now), (Chunks{20, 10}));
}

TEST(Iterations, AWorkerWithoutUnitsIsProbedAgain) {
  Iterations i(2);
  Time now = 0;
  run(i, team(2), 10, {1, 100}, now);
  EXPECT_EQ(run(i, team(2), 10, {1, 100}, now, 3), (Chunks{10, 0}));
  EXPECT_EQ(run(i, team(2), 10, {1, 100}, now, 3), (Chunks{10, 0}));
  EXPECT_EQ(run(i, team(2), 10, {1, 100}, now, 3), (Chunks{10, 0}));
  EXPECT_EQ(run(i, team(2), 10, {1, 1}, now, 3), (Chunks{9, 1})) << "it has become fast";
  EXPECT_EQ(run(i, team(2), 10, {1, 1}, now, 3), (Chunks{5, 5}));
}

TEST(Iterations, ShortOnesDoNotOverwriteRates) {
  Iterations i(2);
  Time now = 0;
  run(i, team(2), 100, {1, 1}, now);
  run(i, team(2), 4, {50, 1}, now);
  EXPECT_DOUBLE_EQ(i.rate(Rank{0}), 1000);
  EXPECT_EQ(i.expected(), 100);
}

TEST(Iterations, WhoLeftIsNotWaitedForAndNotMeasured) {
  Iterations i(2);
  const Chunks shares = i.shares(team(2), 10, 8);
  i.given(Rank{0}, shares[0], 0);
  i.given(Rank{1}, shares[1], 0);
  i.done(Rank{0}, 5, 5 * kMs, kPercent);
  EXPECT_TRUE(i.open());
  i.forget(Rank{1}, kPercent);
  EXPECT_FALSE(i.open());
  EXPECT_EQ(i.rate(Rank{1}), 0);
  EXPECT_EQ(i.shares(team(1), 10, 8), (Chunks{10}));
}

TEST(Iterations, LatecomersBringTheWholeIntoProportion) {
  Iterations i(2);
  Time now = 0;
  run(i, team(2), 40, {1, 3}, now);  // 30 to 10 from now on
  const Chunks first = i.shares(team(2), 4, 8);
  EXPECT_EQ(first, (Chunks{3, 1}));
  i.given(Rank{0}, 3, now);
  i.given(Rank{1}, 1, now);
  EXPECT_EQ(i.shares(team(2), 36, 8), (Chunks{27, 9}));
}

TEST(Iterations, WhatTheMasterTookMeanwhileIsNotWaitedFor) {
  Iterations i(2);
  i.given(Rank{0}, 5, 0);
  i.given(Rank{1}, 5, 0);
  i.went_short(Rank{1}, 5);
  i.done(Rank{0}, 5, kMs, kPercent);
  EXPECT_FALSE(i.open());
  EXPECT_EQ(i.rate(Rank{1}), 0);
  EXPECT_DOUBLE_EQ(i.rate(Rank{0}), 5000);
}

TEST(Iterations, OverdueIsByTheMeasuredRate) {
  Iterations i(2);
  Time now = 0;
  i.given(Rank{1}, 5, now);
  EXPECT_EQ(i.overdue_at(Rank{1}, 0, 0, 4), 0) << "no idea yet";
  i.done(Rank{1}, 5, 5 * kMs, kPercent);
  EXPECT_EQ(i.overdue_at(Rank{1}, 0, 0, 4), 0) << "nothing out";
  i.given(Rank{1}, 5, 100 * kMs);
  EXPECT_EQ(i.overdue_at(Rank{1}, 0.001, 0.002, 4), (100 + 2 + 5 * 2 + 4 * 5 + 10) * kMs);
}

}  // namespace
}  // namespace tessera::balancer
