// Properties of plan_makespan: against the optimum of tiny instances, on adversarial ones, and what it moves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "balancer/central/plan_lpt.hpp"
#include "balancer/random.hpp"

namespace tessera::balancer {
namespace {

void add(Load& load, Time weight, std::int64_t count = 1) {
  load.groups.push_back({Group{static_cast<std::uint32_t>(load.groups.size())}, count, weight});
}

// The optimum by trying every worker for every fragment. Who does not receive keeps nothing.
double optimum_by_force(const std::vector<Load>& loads) {
  std::vector<Time> weights;
  std::vector<double> finish;
  for (const Load& l : loads) {
    finish.push_back(static_cast<double>(l.busy));
    for (const GroupWork& g : l.groups) weights.insert(weights.end(), static_cast<std::size_t>(g.count), g.weight);
  }
  double best = 1e300;
  const std::function<void(std::size_t)> place = [&](std::size_t i) {
    const double now = *std::max_element(finish.begin(), finish.end());
    if (now >= best) return;
    if (i == weights.size()) {
      best = now;
      return;
    }
    for (std::size_t w = 0; w < loads.size(); ++w) {
      if (!loads[w].receives) continue;
      const double before = finish[w];
      finish[w] += static_cast<double>(weights[i]) / loads[w].capacity;
      place(i + 1);
      finish[w] = before;
    }
  };
  place(0);
  return best;
}

void expect_sound(const std::vector<Load>& loads, const Plan& plan) {
  for (const Move& m : plan) {
    ASSERT_NE(m.from, m.to);
    ASSERT_TRUE(loads[m.to].receives);
    ASSERT_FALSE(m.fragments.empty());
    for (const GroupCount& f : m.fragments) ASSERT_GT(f.count, 0);
  }
  for (std::size_t i = 0; i < loads.size(); ++i) {
    std::vector<std::int64_t> gone(loads[i].groups.size());
    for (const Move& m : plan) {
      if (m.from != i) continue;
      for (const GroupCount& f : m.fragments) gone[index(f.group)] += f.count;
    }
    for (std::size_t g = 0; g < gone.size(); ++g) ASSERT_LE(gone[g], loads[i].groups[g].count);
  }
}

double moved_weight(const std::vector<Load>& loads, const Plan& plan) {
  double sum = 0;
  for (const Move& m : plan) {
    for (const GroupCount& f : m.fragments) {
      sum += static_cast<double>(f.count) * static_cast<double>(loads[m.from].find(f.group)->weight);
    }
  }
  return sum;
}

// Up to 4 ranks and 8 fragments, with speeds, busy ranks and ranks that are absent.
TEST(PlanProperties, TinyInstancesAgainstTheOptimum) {
  Random random(21);
  double ratios = 0;
  int optimal = 0, instances = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<Load> loads(2 + random.below(3));
    const bool speeds = random.below(2) == 0;
    for (Load& l : loads) {
      if (speeds) l.capacity = 1 + static_cast<double>(random.below(3));
      if (random.below(4) == 0) l.busy = static_cast<Time>(random.below(40));
    }
    for (std::uint64_t n = 1 + random.below(8); n > 0; --n) {
      add(loads[random.below(loads.size())], static_cast<Time>(1 + random.below(30)));
    }
    if (loads.size() > 2 && random.below(4) == 0) loads.emplace_back().receives = false;
    const Plan plan = plan_makespan(loads);
    expect_sound(loads, plan);
    if (HasFatalFailure()) FAIL() << "round " << round;
    const double result = makespan(loads, plan), best = optimum_by_force(loads);
    ASSERT_GE(result, best * (1 - 1e-9)) << round;
    ASSERT_LE(result, makespan(loads, {})) << round;
    ASSERT_LE(result, makespan(loads, plan_mean(loads)) * (1 + 1e-6)) << round;
    ASSERT_LE(result, 1.5 * best) << round;
    ratios += result / best;
    optimal += result <= best * (1 + 1e-6);
    ++instances;
  }
  std::printf("tiny instances: %.4f of the optimum on average, %.1f %% optimal\n", ratios / instances,
              100.0 * optimal / instances);
  EXPECT_LE(ratios / instances, 1.02);
}

TEST(PlanProperties, NothingToMoveIsNoPlan) {
  EXPECT_TRUE(plan_makespan({}).empty());
  EXPECT_TRUE(plan_makespan(std::vector<Load>(5)).empty());
  std::vector<Load> one(1);
  add(one[0], 10, 7);
  EXPECT_TRUE(plan_makespan(one).empty());
  std::vector<Load> fixed(3);
  add(fixed[0], 10, 7);
  fixed[0].groups[0].movable = false;
  EXPECT_TRUE(plan_makespan(fixed).empty());
  std::vector<Load> nobody(2);
  add(nobody[0], 10, 7);
  nobody[0].receives = nobody[1].receives = false;
  EXPECT_TRUE(plan_makespan(nobody).empty());
}

// The heaviest fragment decides when all is over: the others need not be level.
TEST(PlanProperties, OneGiantStaysAndLittleMoves) {
  std::vector<Load> loads(50);
  Random random(22);
  for (std::size_t i = 0; i < loads.size(); ++i) {
    for (int k = 0; k < 16; ++k) add(loads[i], static_cast<Time>(1 + random.below(20)));
  }
  add(loads[7], 1000);
  const Plan plan = plan_makespan(loads);
  expect_sound(loads, plan);
  EXPECT_EQ(makespan(loads, plan), 1000);
  for (const Move& m : plan) EXPECT_EQ(m.from, 7u);
  EXPECT_LE(moved_weight(loads, plan), loads[7].work() - 1000);
}

TEST(PlanProperties, EqualFragmentsEndAtTheOptimum) {
  Random random(23);
  for (int round = 0; round < 300; ++round) {
    std::vector<Load> loads(1 + random.below(40));
    std::int64_t fragments = 0;
    for (Load& l : loads) {
      const auto n = static_cast<std::int64_t>(random.below(3) == 0 ? random.below(60) : random.below(6));
      add(l, 100, n);
      fragments += n;
    }
    const Plan plan = plan_makespan(loads);
    expect_sound(loads, plan);
    const auto workers = static_cast<std::int64_t>(loads.size());
    const std::int64_t most = (fragments + workers - 1) / workers;
    ASSERT_EQ(makespan(loads, plan), static_cast<double>(100 * most)) << round;
    // Those above `most` give down to it, or one more each.
    double surplus = 0;
    for (const Load& l : loads) surplus += std::max(0.0, l.work() - static_cast<double>(100 * (most - 1)));
    ASSERT_LE(moved_weight(loads, plan), surplus) << round;
  }
}

// Of many that are alike all idle ranks get some, though the last finishes no sooner for it.
TEST(PlanProperties, FewerFragmentsThanTwoForEachRankReachEveryRank) {
  std::vector<Load> loads(100);
  add(loads[0], 100, 150);
  const Plan plan = plan_makespan(loads);
  EXPECT_EQ(makespan(loads, plan), 200);
  for (const Load& l : loads_after(loads, plan)) EXPECT_GE(l.work(), 100);
}

TEST(PlanProperties, MoreRanksThanFragments) {
  std::vector<Load> loads(100);
  add(loads[3], 50, 4);
  add(loads[3], 7, 3);
  const Plan plan = plan_makespan(loads);
  expect_sound(loads, plan);
  EXPECT_EQ(makespan(loads, plan), 50);
}

TEST(PlanProperties, AbsentRanksGetNothingAndNeedNothing) {
  std::vector<Load> loads(6);
  for (std::size_t i = 0; i < 6; i += 2) loads[i].receives = false;
  add(loads[1], 10, 12);
  const Plan plan = plan_makespan(loads);
  expect_sound(loads, plan);
  EXPECT_EQ(makespan(loads, plan), 40);
}

TEST(PlanProperties, RanksThatLeaveGiveEverything) {
  Random random(24);
  for (int round = 0; round < 300; ++round) {
    std::vector<Load> loads(3 + random.below(10));
    for (Load& l : loads) {
      l.capacity = 1 + static_cast<double>(random.below(3));
      for (std::uint64_t k = random.below(20); k > 0; --k) add(l, static_cast<Time>(1 + random.below(1000)));
    }
    loads[1].receives = false;
    const Plan plan = plan_makespan(loads);
    expect_sound(loads, plan);
    ASSERT_EQ(loads_after(loads, plan)[1].finish(), 0) << round;
  }
}

// How near the bound it ends, and with how few fragments. The seeds are none that it was tuned on.
TEST(PlanProperties, FewFragmentsMoveAndEndNearTheBound) {
  for (const std::uint64_t seed : {31, 32, 33}) {
    for (const bool hotspot : {false, true}) {
      Random random(seed);
      std::vector<Load> loads(1000);
      for (std::size_t i = 0; i < loads.size(); ++i) {
        for (int k = 0; k < 16; ++k) {
          const double x = hotspot ? (i % 10 == 0 ? 5 : 1) * (0.5 + random.unit()) : -std::log(1 - random.unit());
          add(loads[i], static_cast<Time>(1 + x * 1e7));
        }
      }
      const Plan plan = plan_makespan(loads);
      expect_sound(loads, plan);
      std::int64_t fragments = 0;
      for (const Move& m : plan) {
        for (const GroupCount& f : m.fragments) fragments += f.count;
      }
      EXPECT_LE(makespan(loads, plan), (hotspot ? 1.03 : 1.01) * lower_bound(loads).finish) << seed;
      EXPECT_LE(fragments, (hotspot ? 0.07 : 0.055) * 16'000) << seed;
    }
  }
}

TEST(PlanProperties, NeverWorseThanNotMovingWhateverTravelCosts) {
  Random random(25);
  for (int round = 0; round < 1000; ++round) {
    std::vector<Load> loads(2 + random.below(8));
    for (Load& l : loads) {
      l.busy = static_cast<Time>(random.below(200));
      for (std::uint64_t k = random.below(12); k > 0; --k) {
        add(l, static_cast<Time>(1 + random.below(100)), static_cast<std::int64_t>(1 + random.below(4)));
        l.groups.back().bytes = static_cast<std::int64_t>(random.below(100));
      }
    }
    PlanCosts costs;
    costs.min_gain = static_cast<Time>(random.below(30));
    costs.transfer = [](std::size_t from, std::size_t to, std::int64_t bytes) {
      return static_cast<Time>(bytes) * static_cast<Time>(1 + (from + to) % 3);
    };
    const Plan plan = plan_makespan(loads, costs);
    expect_sound(loads, plan);
    ASSERT_LE(makespan(loads, plan, costs), makespan(loads, {}, costs)) << round;
  }
}

}  // namespace
}  // namespace tessera::balancer
