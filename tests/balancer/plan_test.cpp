// Both planners: the golden example of the source, the bounds, the cost of a plan.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>

#include "balancer/central/plan_lpt.hpp"
#include "balancer/random.hpp"

namespace tessera::balancer {
namespace {

constexpr Group kHeavy{0}, kMiddle{1}, kLight{2};

std::vector<double> finishes(const std::vector<Load>& loads) {
  std::vector<double> f;
  for (const Load& l : loads) f.push_back(l.finish());
  return f;
}

// Loads 50/20/20/10; worker 1 (here 0) holds five of weight 8, two of 4, two of 1.
std::vector<Load> golden() {
  std::vector<Load> loads(4);
  loads[0].groups = {{kHeavy, 5, 8}, {kMiddle, 2, 4}, {kLight, 2, 1}};
  loads[1].groups = {{kMiddle, 5, 4}};
  loads[2].groups = {{kMiddle, 5, 4}};
  loads[3].groups = {{kLight, 10, 1}};
  return loads;
}

TEST(PlanMean, GoldenExampleOfTheSource) {
  const Plan plan = plan_mean(golden());
  const Plan expected = {{0, 3, {{kHeavy, 1}, {kMiddle, 1}, {kLight, 2}}}, {0, 1, {{kMiddle, 1}}}};
  EXPECT_EQ(plan, expected);
  EXPECT_EQ(finishes(loads_after(golden(), plan)), (std::vector<double>{32, 24, 20, 24}));
}

// 32 in the source, 28 with another eight shipped. Workers 2 and 3 take more than they have room for and pass light
// ones on: the mean.
TEST(PlanMakespan, EndsWellBeforeTheSource) { EXPECT_EQ(makespan(golden(), plan_makespan(golden())), 25); }

TEST(PlanMakespan, LeavesBalancedLoadsAlone) {
  std::vector<Load> loads(3);
  for (Load& l : loads) l.groups = {{kHeavy, 4, 10}};
  EXPECT_TRUE(plan_makespan(loads).empty());
  EXPECT_TRUE(plan_mean(loads).empty());
}

TEST(PlanMakespan, CountsWhatTheReceiverStillReceives) {
  std::vector<Load> loads(2);
  loads[0].groups = {{kHeavy, 10, 10}};
  loads[1].busy = 100;  // on its way to it
  EXPECT_TRUE(plan_makespan(loads).empty());
  loads[1].busy = 50;
  const Plan plan = plan_makespan(loads);
  ASSERT_EQ(plan.size(), 1u);
  EXPECT_EQ(makespan(loads, plan), 80);
}

// Only some of a plan may leave at once. What two loops make in turns, and others need together, goes in turns then.
TEST(PlanMakespan, GroupsThatWeighTheSameTakeTurns) {
  std::vector<Load> loads(11);
  loads[0].groups = {{Group{0}, 110, 10}, {Group{1}, 110, 10}};
  std::vector<std::int64_t> first_four(2);
  const Plan plan = plan_makespan(loads);
  ASSERT_GE(plan.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    for (const GroupCount& f : plan[i].fragments) first_four[index(f.group)] += f.count;
  }
  EXPECT_GE(first_four[0], 30);
  EXPECT_GE(first_four[1], 30);
}

TEST(PlanMakespan, GivesFasterWorkersMore) {
  std::vector<Load> loads(2);
  loads[0].groups = {{kHeavy, 40, 10}};
  loads[1].capacity = 3;
  EXPECT_EQ(plan_makespan(loads), (Plan{{0, 1, {{kHeavy, 30}}}}));
}

TEST(PlanMakespan, MovesNothingForLessThanTheMinimumGain) {
  std::vector<Load> loads(2);
  loads[0].groups = {{kHeavy, 4, 10}};
  PlanCosts costs;
  costs.min_gain = 21;
  EXPECT_TRUE(plan_makespan(loads, costs).empty());
  costs.min_gain = 19;
  EXPECT_EQ(plan_makespan(loads, costs), (Plan{{0, 1, {{kHeavy, 2}}}}));
}

TEST(PlanMakespan, MovesNothingThatArrivesTooLate) {
  std::vector<Load> loads(2);
  loads[0].groups = {{kHeavy, 4, 10, 1000}};
  PlanCosts costs;
  costs.transfer = [](std::size_t, std::size_t, std::int64_t bytes) { return Time{bytes}; };
  EXPECT_TRUE(plan_makespan(loads, costs).empty());
}

TEST(PlanMakespan, EmptiesARankThatLeaves) {
  std::vector<Load> loads(3);
  loads[0].groups = {{kHeavy, 6, 10}};
  loads[0].receives = false;
  const std::vector<Load> after = loads_after(loads, plan_makespan(loads));
  EXPECT_EQ(finishes(after), (std::vector<double>{0, 30, 30}));
}

TEST(PlanMakespan, EmptiesARankThatLeavesEvenIntoLaterOnes) {
  std::vector<Load> loads(3);
  loads[0].groups = {{kHeavy, 3, 10}};
  loads[0].receives = false;
  loads[1].groups = loads[2].groups = {{kMiddle, 20, 4}};
  EXPECT_EQ(loads_after(loads, plan_makespan(loads))[0].finish(), 0);
}

TEST(PlanMakespan, LeavesImmovableWorkAndBalancesTheRestAroundIt) {
  std::vector<Load> loads(3);
  loads[0].groups = {{kHeavy, 1, 1000, 0, false}};
  loads[1].groups = {{kMiddle, 10, 4}};
  EXPECT_EQ(plan_makespan(loads), (Plan{{1, 2, {{kMiddle, 5}}}}));
}

// ---- every small instance

// The optimum by trying every worker for every fragment, heaviest first.
double optimum(const std::vector<Load>& loads) {
  std::vector<Time> items;
  for (const Load& l : loads) {
    for (const GroupWork& g : l.groups) items.insert(items.end(), static_cast<std::size_t>(g.count), g.weight);
  }
  std::sort(items.rbegin(), items.rend());
  std::vector<Time> sum(loads.size());
  Time best = 1'000'000;
  const std::function<void(std::size_t)> place = [&](std::size_t i) {
    if (i == items.size()) {
      best = std::min(best, *std::max_element(sum.begin(), sum.end()));
      return;
    }
    for (std::size_t w = 0; w < sum.size(); ++w) {
      if (sum[w] + items[i] >= best) continue;
      sum[w] += items[i];
      place(i + 1);
      sum[w] -= items[i];
      if (sum[w] == 0) break;  // empty workers are alike
    }
  };
  place(0);
  return static_cast<double>(best);
}

// A plan may only move what there is.
void expect_possible(const std::vector<Load>& loads, const Plan& plan) {
  for (const Load& l : loads_after(loads, plan)) {
    for (const GroupWork& g : l.groups) ASSERT_GE(g.count, 0);
  }
  for (const Move& m : plan) {
    ASSERT_NE(m.from, m.to);
    for (const GroupCount& f : m.fragments) ASSERT_GT(f.count, 0);
  }
}

void check_instance(const std::vector<Load>& loads) {
  const Plan mean = plan_mean(loads), own = plan_makespan(loads), lpt = plan_lpt(loads);
  expect_possible(loads, mean);
  expect_possible(loads, own);
  expect_possible(loads, lpt);
  const double before = makespan(loads, {});
  const double result = makespan(loads, own);
  ASSERT_LE(result, makespan(loads, mean));
  ASSERT_LE(makespan(loads, mean), before);
  ASSERT_LE(result, before);
  const double m = static_cast<double>(loads.size());
  const double best = optimum(loads);
  ASSERT_GE(result, best);
  ASSERT_LE(result, (4.0 / 3 - 1 / (3 * m)) * best + 1e-9);
  ASSERT_LE(makespan(loads, lpt), (4.0 / 3 - 1 / (3 * m)) * best + 1e-9);
}

TEST(Planners, EverySmallInstance) {
  // Every way to put up to 2, 2 and 3 fragments of three weights on each of three workers.
  const Time weights[][3] = {{8, 4, 1}, {5, 4, 3}, {7, 7, 2}};
  for (const auto& w : weights) {
    for (int code = 0; code < 36 * 36 * 36; code += 7) {  // a stride prime to 36 visits every worker's ways
      int rest = code;
      std::vector<Load> loads(3);
      for (Load& l : loads) {
        const int c = rest % 36;
        rest /= 36;
        l.groups = {{kHeavy, c % 3, w[0]}, {kMiddle, c / 3 % 3, w[1]}, {kLight, c / 9, w[2]}};
      }
      check_instance(loads);
      if (HasFatalFailure()) FAIL() << "instance " << code;
    }
  }
}

TEST(Planners, EveryTwoWorkerInstance) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      std::vector<Load> loads(2);
      const auto groups = [](int c) {
        return std::vector<GroupWork>{
            {kHeavy, c % 4, 7}, {kMiddle, c / 4 % 4, 5}, {kLight, c / 16 % 4, 3}, {Group{3}, c / 64, 2}};
      };
      loads[0].groups = groups(a);
      loads[1].groups = groups(b);
      check_instance(loads);
      if (HasFatalFailure()) FAIL() << "instance " << a << " " << b;
    }
  }
}

TEST(Planners, RandomInstancesWithBusyWorkersAndSpeeds) {
  Random random(7);
  for (int round = 0; round < 3000; ++round) {
    std::vector<Load> loads(2 + random.below(7));
    for (Load& l : loads) {
      l.capacity = 1 + static_cast<double>(random.below(4));
      l.busy = static_cast<Time>(random.below(100));
      for (std::uint32_t g = 0; g < 5; ++g) {
        if (random.below(2) == 0) continue;
        l.groups.push_back({Group{g}, static_cast<std::int64_t>(random.below(30)), static_cast<Time>(1 + g * g * 7)});
      }
    }
    const Plan own = plan_makespan(loads);
    expect_possible(loads, own);
    ASSERT_LE(makespan(loads, own), makespan(loads, plan_mean(loads)) * (1 + 1e-6)) << round;
    ASSERT_LE(makespan(loads, own), makespan(loads, {}) * (1 + 1e-6)) << round;
  }
}

// Fragments each of its own weight. Half of the instances begin with all of them on a few workers.
TEST(Planners, ExponentialWeightsEndNearTheBound) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    Random random(seed);
    std::vector<Load> loads(500);
    for (std::size_t i = 0; i < loads.size() * 16; ++i) {
      Load& load = loads[seed % 2 == 0 ? i % loads.size() : i % 50];
      const double x = -std::log(1 - random.unit()) * 1e7;
      load.groups.push_back(
          {Group{static_cast<std::uint32_t>(load.groups.size())}, 1, std::max<Time>(1, static_cast<Time>(x))});
    }
    const Plan own = plan_makespan(loads);
    expect_possible(loads, own);
    const double result = makespan(loads, own);
    EXPECT_LE(result, 1.05 * lower_bound(loads).finish) << seed;
    EXPECT_LE(result, makespan(loads, plan_mean(loads))) << seed;
    // One message per receiver and giver, no fragment its own.
    EXPECT_LE(own.size(), 2 * loads.size()) << seed;
  }
}

// ---- cost

std::vector<Load> large(bool uneven) {
  Random random(11);
  std::vector<Load> loads(1000);
  for (std::size_t i = 0; i < loads.size(); ++i) {
    for (std::uint32_t g = 0; g < 50; ++g) {
      const std::uint64_t most = uneven && i % 10 == 0 ? 200 : 20;
      loads[i].groups.push_back(
          {Group{g}, static_cast<std::int64_t>(random.below(most)), static_cast<Time>(1'000'000 + g * 997'000)});
    }
  }
  return loads;
}

TEST(Planners, CostOfAPlanForAThousandWorkersAndFiftyGroups) {
  for (const bool uneven : {false, true}) {
    const std::vector<Load> loads = large(uneven);
    double best_ms = 1e9;
    Plan plan;
    for (int i = 0; i < 9; ++i) {
      const std::clock_t start = std::clock();  // of this process: the machine may be shared
      plan = plan_makespan(loads);
      best_ms = std::min(best_ms, static_cast<double>(std::clock() - start) * 1e3 / CLOCKS_PER_SEC);
    }
    std::printf("1000 workers x 50 groups, %s: %.3f ms, %zu messages, finish %.0f -> %.0f ms\n",
                uneven ? "uneven" : "even", best_ms, plan.size(), makespan(loads, {}) / 1e6,
                makespan(loads, plan) / 1e6);
    EXPECT_LE(makespan(loads, plan), lower_bound(loads).finish * 1.05);
  }
}

}  // namespace
}  // namespace tessera::balancer
