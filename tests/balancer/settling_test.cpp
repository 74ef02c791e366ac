// Plans by index that stay: what a step is, what is planned, when a plan stands, and what that comes to in simulation.
#include "balancer/settling/settling.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "balancer/settling/settler.hpp"
#include "balancer/settling/steps.hpp"
#include "balancer/simulator/workloads/catalogue.hpp"
#include "times.hpp"

namespace tessera::balancer {
namespace {

SeriesWork work(std::uint64_t series, Time weight, std::int32_t home = 0, std::int64_t bytes = 0) {
  return {series, Group{0}, Rank{home}, weight, bytes};
}

// One run of each of so many series.
SeriesRan step_of(int series, Time weight) {
  SeriesRan ran;
  for (int s = 1; s <= series; ++s) ran.ran.push_back(work(static_cast<std::uint64_t>(s), weight));
  return ran;
}

TEST(Steps, TellAtOnceThatThereAreSeriesThenWhatTheyTakeAndNothingWhileTheyTakeThat) {
  Steps steps;
  EXPECT_TRUE(steps.told(step_of(4, kMs)));
  EXPECT_EQ(steps.report().steps, 0);
  EXPECT_TRUE(steps.told(step_of(4, kMs)));
  const SeriesReport first = steps.report();
  EXPECT_GE(first.steps, 1);
  ASSERT_EQ(first.series.size(), 4u);
  EXPECT_EQ(first.series[2], work(3, kMs));
  int reports = 0;
  for (int k = 0; k < 100; ++k) {
    if (steps.told(step_of(4, kMs))) ++reports, steps.report();
  }
  EXPECT_LE(reports, 8) << "only that it goes on, ever more rarely";
}

TEST(Steps, ChangesAreNews) {
  Steps steps;
  steps.told(step_of(4, kMs));
  steps.report();
  for (int k = 0; k < 70; ++k) {
    if (steps.told(step_of(4, kMs))) steps.report();
  }
  bool told = false;
  for (int k = 0; k < 3; ++k) told = steps.told(step_of(4, 2 * kMs)) || told;
  EXPECT_TRUE(told);
  const SeriesReport r = steps.report();
  EXPECT_GT(r.series[0].weight, 3 * kMs / 2);
  EXPECT_GT(r.doubt, 0.1);
}

// Weights are read from a clock: somebody else's turn on the core makes one run last twenty times as long.
TEST(Steps, OneLongRunIsNoNews) {
  Steps steps;
  int reports = 0;
  for (int k = 0; k < 200; ++k) {
    SeriesRan ran = step_of(64, kMs / 10);
    ran.ran[static_cast<std::size_t>(k * 37 % 64)].weight += 2 * kMs;
    if (!steps.told(ran)) continue;
    ++reports;
    const SeriesReport r = steps.report();
    EXPECT_LT(r.doubt, 0.01) << "after " << k << " steps";
    for (const SeriesWork& w : r.series) EXPECT_EQ(w.weight, kMs / 10) << "after " << k << " steps";
  }
  EXPECT_LE(reports, 10);
}

// Runs of a step need not come before those of the next: a wave goes through the parts.
TEST(Steps, AreAsManyRunsAsThereAreSeries) {
  Steps steps;
  for (int turn = 0; turn < 50; ++turn) {
    SeriesRan ran;
    for (const std::uint64_t s : {1, 1, 2, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 3, 4, 4}) ran.ran.push_back(work(s, kMs));
    if (steps.told(ran)) steps.report();
  }
  steps.planned(1);
  const std::int64_t n = steps.report().steps;
  EXPECT_GE(n, 190);
  EXPECT_LE(n, 201);
}

TEST(Steps, SomeAfterAPlanAllIsNews) {
  Steps steps;
  for (int k = 0; k < 70; ++k) {
    if (steps.told(step_of(4, kMs))) steps.report();
  }
  steps.planned(5);
  int after = 0;
  while (!steps.told(step_of(3, kMs)) && after < 20) ++after;
  EXPECT_LT(after, 6);
  const SeriesReport r = steps.report();
  EXPECT_EQ(r.plan, 5u);
  EXPECT_EQ(r.series.size(), 3u) << "the fourth no longer runs here";
}

SeriesReport report(std::uint64_t plan, std::int64_t steps, std::vector<SeriesWork> series, double doubt = 0) {
  return {plan, steps, doubt, std::move(series)};
}
// Two ranks; eight series of rank 0 that take 4 ms each, eight of rank 1 that take 1 ms.
std::vector<SeriesWork> heavy() {
  std::vector<SeriesWork> all;
  for (std::uint64_t s = 1; s <= 8; ++s) all.push_back(work(s, 4 * kMs, 0, 100));
  return all;
}
std::vector<SeriesWork> light() {
  std::vector<SeriesWork> all;
  for (std::uint64_t s = 11; s <= 18; ++s) all.push_back(work(s, kMs, 1, 100));
  return all;
}

TEST(Settler, PlansOnceAllHaveShownAStepAndOnlyOnce) {
  Settler s(2, 1, {}, 0);
  s.link({20'000, 1e9});
  s.report(Rank{0}, report(0, 0, {}));
  s.report(Rank{1}, report(0, 1, light()));
  EXPECT_FALSE(s.decide().planned) << "of rank 0 nothing is known but that it has some";
  s.report(Rank{0}, report(0, 1, heavy()));
  const Settler::Answer plan = s.decide();
  EXPECT_TRUE(plan.planned);
  EXPECT_EQ(plan.before, 32.0 * kMs);
  EXPECT_EQ(plan.after, 20.0 * kMs);
  EXPECT_EQ(plan.moved, 3);
  EXPECT_EQ(plan.places.at(Rank{0}).size(), 8u) << "whatever has been moved meanwhile, all run where the plan says";
  EXPECT_EQ(s.standing(), (SeriesStand{1, {Group{0}}}));

  // They now run there; nothing changes.
  std::vector<SeriesWork> left = heavy(), right = light();
  right.insert(right.end(), left.begin() + 5, left.end());
  std::vector<std::uint64_t> gone;
  for (const SeriesPlace& p : plan.places.at(Rank{0})) {
    if (p.to == Rank{1}) gone.push_back(p.series);
  }
  ASSERT_EQ(gone.size(), 3u);
  left.clear();
  right = light();
  for (const SeriesWork& w : heavy()) {
    const bool moved = std::find(gone.begin(), gone.end(), w.series) != gone.end();
    (moved ? right : left).push_back(w);
  }
  s.report(Rank{0}, report(1, 4, left));
  EXPECT_FALSE(s.decide().planned) << "rank 1 has not seen its effect yet";
  s.report(Rank{1}, report(1, 4, right));
  EXPECT_FALSE(s.decide().planned);
}

// Rank 0 still names what it ran before the plan, after rank 1 has named it, too.
TEST(Settler, OldReportsTakeNothingBack) {
  Settler s(2, 1, {}, 0);
  s.link({20'000, 1e9});
  s.report(Rank{0}, report(0, 1, heavy()));
  s.report(Rank{1}, report(0, 1, light()));
  const Settler::Answer plan = s.decide();
  ASSERT_EQ(plan.moved, 3);
  std::vector<SeriesWork> left, right = light();
  for (const SeriesPlace& p : plan.places.at(Rank{0})) {
    (p.to == Rank{0} ? left : right).push_back(work(p.series, p.to == Rank{0} ? 8 * kMs : 4 * kMs, 0, 100));
  }
  s.report(Rank{1}, report(1, 4, right));
  s.report(Rank{0}, report(0, 3, heavy()));
  EXPECT_FALSE(s.decide().planned);
  s.report(Rank{0}, report(1, 4, left));
  const Settler::Answer next = s.decide();
  ASSERT_TRUE(next.planned);
  EXPECT_EQ(next.places.at(Rank{0}).size() + next.places.at(Rank{1}).size(), 16u) << "of all";
}

TEST(Settler, LeavesAloneWhatTravelsLongerThanItSaves) {
  Settler s(2, 1, {}, 0);
  s.link({20'000, 1e9});
  std::vector<SeriesWork> large = heavy(), small = light();
  for (SeriesWork& w : large) w.bytes = 4'000'000;  // 4 ms each
  s.report(Rank{0}, report(0, 1, large));
  s.report(Rank{1}, report(0, 1, small));
  EXPECT_FALSE(s.decide().planned);
}

TEST(Settler, LeavesAloneWhatIsTooLightToBeShippedInEachStep) {
  for (const Time ship_cost : {Time{0}, kMs}) {
    Settler s(2, 1, {}, ship_cost);
    s.link({20'000, 1e9});
    s.report(Rank{0}, report(0, 1, {work(1, kMs), work(2, kMs), work(3, kMs), work(4, kMs)}));
    EXPECT_EQ(s.decide().planned, ship_cost == 0);
  }
}

TEST(Settler, LeavesToStepsWhatNoPlanDividesWell) {
  Settler s(2, 1, {}, 0);
  s.link({20'000, 1e9});
  s.report(Rank{0}, report(0, 1, {work(1, kMs), work(2, kMs), work(3, kMs)}));
  EXPECT_FALSE(s.decide().planned);
}

TEST(Settler, LeavesAloneStepsShorterThanTenLatencies) {
  for (const Time latency : {kMs, 3 * kMs}) {
    Settler s(2, 1, {}, 0);
    s.link({latency, 1e9});
    s.report(Rank{0}, report(0, 1, heavy()));
    s.report(Rank{1}, report(0, 1, light()));
    EXPECT_EQ(s.decide().planned, latency == kMs);
  }
}

TEST(Settler, APlanFallsWhereStepsAreNothingThatLastsAndRestsThen) {
  Settler s(2, 1, {}, 0);
  s.link({20'000, 1e9});
  s.report(Rank{0}, report(0, 1, heavy()));
  s.report(Rank{1}, report(0, 1, light()));
  ASSERT_TRUE(s.decide().planned);
  s.report(Rank{0}, report(1, 4, heavy(), 0.2));
  s.report(Rank{1}, report(1, 4, light()));
  EXPECT_TRUE(s.decide().planned);
  EXPECT_EQ(s.standing(), (SeriesStand{2, {}}));
  s.report(Rank{0}, report(2, 8, heavy(), 0));
  s.report(Rank{1}, report(2, 8, light()));
  EXPECT_FALSE(s.decide().planned);
  s.report(Rank{0}, report(2, 21, heavy(), 0));
  EXPECT_TRUE(s.decide().planned);
}

// Equal series; those that came to rank 1 take twice as long there.
TEST(Settler, LearnsHowFastARankIsByWhatHasComeToIt) {
  Settler s(2, 1, {}, 0);
  s.link({20'000, 1e9});
  std::vector<SeriesWork> all;
  for (std::uint64_t k = 1; k <= 12; ++k) all.push_back(work(k, 2 * kMs));
  s.report(Rank{0}, report(0, 1, all));
  const Settler::Answer plan = s.decide();
  ASSERT_EQ(plan.moved, 6);
  std::vector<SeriesWork> left, right;
  for (const SeriesPlace& p : plan.places.at(Rank{0})) {
    (p.to == Rank{0} ? left : right).push_back(work(p.series, p.to == Rank{0} ? 2 * kMs : 4 * kMs));
  }
  s.report(Rank{1}, report(0, 2, {}));  // it has not run any of them yet
  s.report(Rank{0}, report(1, 4, left));
  s.report(Rank{1}, report(1, 4, right));
  const Settler::Answer again = s.decide();
  EXPECT_EQ(again.moved, 2);
  EXPECT_EQ(again.after, 16.0 * kMs);
}

// Around a policy that gives what it is asked for.
TEST(Settling, WhatStandsIsHiddenAndStays) {
  balancer::Setup setup;
  setup.rank = Rank{0};
  setup.ranks = 2;
  setup.groups.resize(2);
  const auto policy = make_settling(find_policy("steal")->make(setup), setup, Rank{1}, 2);
  const auto ships = [&](Time at) {
    Actions out;
    policy->step(at, Received{Rank{1}, StealRequest{1, true}}, out);
    std::int64_t count = 0;
    for (const Action& a : out) {
      if (const auto* ship = std::get_if<Ship>(&a)) {
        for (const GroupCount& f : ship->fragments) count += f.count;
        Actions more;
        policy->step(at, Shipped{ship->ticket, ship->to, {}, 0}, more);
      }
    }
    return count;
  };
  Actions out;
  policy->step(0, LinkMeasured{Rank{1}, 20'000, 1e9}, out);
  policy->step(0, WentBusy{}, out);
  policy->step(0, LoadChanged{{{Group{0}, 10, 0}}, {{Group{0}, 5, 5 * kMs, 5e12}}}, out);
  EXPECT_GT(ships(kMs), 0);
  policy->step(2 * kMs, Received{Rank{1}, SeriesStand{1, {Group{0}}}}, out);
  policy->step(2 * kMs, LoadChanged{{{Group{0}, 10, 0}}, {}}, out);
  EXPECT_EQ(ships(3 * kMs), 0);
  out.clear();
  policy->step(3 * kMs, LoadChanged{{{Group{0}, 20, 0}}, {}}, out);
  EXPECT_TRUE(out.empty()) << "nor is the thief woken for it";
  out.clear();
  policy->step(4 * kMs, Received{Rank{1}, SeriesPlan{{{7, Rank{1}}}}}, out);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(std::get<SettleSeries>(out[0]).places, (std::vector<SeriesPlace>{{7, Rank{1}}}));
  policy->step(5 * kMs, Received{Rank{1}, SeriesStand{2, {}}}, out);
  EXPECT_GT(ships(6 * kMs), 0) << "what the host said last counts again";
}

// Two steps after a plan, a rank of which 4 ms are due has nothing for more than a fifth of that.
TEST(Settling, ARankThatHasNothingComplainsAndThePlanFalls) {
  balancer::Setup setup;
  setup.rank = Rank{0};
  setup.ranks = 2;
  setup.groups.resize(1);
  const auto worker = make_settling(find_policy("none")->make(setup), setup, Rank{1}, 2);
  Actions out;
  const auto idle = [&](Time at) {
    out.clear();
    worker->step(at, WentBusy{}, out);
    worker->step(at, WentIdle{}, out);
    return out.empty() ? Time{0} : std::get<SetTimer>(out.back()).at - at;
  };
  for (int k = 0; k < 3; ++k) worker->step(0, step_of(4, kMs), out);
  EXPECT_EQ(idle(kMs), 0) << "no plan stands";
  worker->step(0, Received{Rank{1}, SeriesStand{6, {Group{0}}}}, out);
  EXPECT_EQ(idle(2 * kMs), 0) << "this step is a mixture";
  for (int k = 0; k < 2; ++k) worker->step(0, step_of(4, kMs), out);
  EXPECT_EQ(idle(3 * kMs), 4 * kMs / 5);
  out.clear();
  worker->step(4 * kMs, TimerFired{25}, out);
  ASSERT_EQ(out.size(), 1u);
  const auto& complaint = std::get<Send>(out[0]);
  EXPECT_EQ(complaint.to, Rank{1});

  setup.rank = Rank{1};
  const auto planner = make_settling(find_policy("none")->make(setup), setup, Rank{1}, 2);
  planner->step(0, Received{Rank{0}, report(0, 1, heavy())}, out);
  planner->step(0, TimerFired{24}, out);
  out.clear();
  planner->step(0, Received{Rank{0}, SeriesStand{0, {}}}, out);
  EXPECT_TRUE(out.empty()) << "of a plan before this one";
  planner->step(0, Received{Rank{0}, SeriesStand{1, {}}}, out);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(std::get<SeriesStand>(std::get<Send>(out[0]).message), (SeriesStand{2, {}}));
}

struct Settled {
  double time, bound;
  std::int64_t moved;
};
Settled run(const char* workload, Settings parameters, std::int32_t ranks, bool settle,
            std::vector<double> speeds = {}) {
  simulator::Options o;
  o.balancer = "auto";
  o.settings = {{"settle", settle ? "true" : "false"}};
  o.ranks = ranks;
  o.speeds = std::move(speeds);
  o.latency = 20'000;
  o.bandwidth = 1.25e9;
  o.processing = o.coordinator = {1000, 1000, 100};
  parameters["series"] = "true";
  const simulator::Generated made =
      simulator::generate(*simulator::find_workload(workload), parameters, simulator::Surroundings{ranks, 1});
  const simulator::Outcome r = simulator::simulate(*made.graph, o);
  EXPECT_TRUE(r.faults.empty());
  return {static_cast<double>(r.finished), static_cast<double>(r.bound), r.moved};
}
// Of so many steps and as many again, the second.
Settled steady(const char* workload, Settings parameters, std::int32_t ranks, int steps) {
  parameters["iterations"] = std::to_string(steps);
  const Settled once = run(workload, parameters, ranks, true);
  parameters["iterations"] = std::to_string(2 * steps);
  const Settled twice = run(workload, parameters, ranks, true);
  return {twice.time - once.time, twice.bound - once.bound, twice.moved - once.moved};
}

// The figures asked for (issue 22), and never worse than without.
TEST(Settling, SixteenPartsARankOfRandomWeights) {
  const Settings parts = {{"parts", "256"}, {"pattern", "random"}};
  const Settled r = steady("iterate", parts, 16, 40);
  EXPECT_LE(r.time, 1.02 * r.bound);
  EXPECT_LT(r.moved, 40);
  Settings once = parts;
  once["iterations"] = "1";
  EXPECT_LE(run("iterate", once, 16, true).time, 1.001 * run("iterate", once, 16, false).time);
}

TEST(Settling, TwoRanksOfAStencil) {
  Settings s = {{"width", "64"}, {"pattern", "step"}, {"halo", "8B"}, {"state", "100B"}};
  s["weight"] = "56.8us";
  const Settled slow = steady("stencil", s, 2, 200);
  EXPECT_LE(slow.time, 1.015 * slow.bound);
  s["weight"] = "5.68us";
  const Settled fast = steady("stencil", s, 2, 200);
  EXPECT_LE(fast.time, 1.04 * fast.bound);
}

TEST(Settling, WeightsThatDrift) {
  for (const char* drift : {"0.02", "0.2"}) {
    const Settled r =
        run("iterate",
            {{"parts", "256"}, {"pattern", "random"}, {"state", "100B"}, {"drift", drift}, {"iterations", "100"}}, 16,
            true);
    std::printf("drift %s: %.3f\n", drift, r.time / r.bound);
    EXPECT_LE(r.time, 1.08 * r.bound);
  }
}

// Ranks of unknown speed, few steps, all parts on the first: no first plan is right.
TEST(Settling, IsNoWorseOnUnevenRanks) {
  std::vector<double> speeds = {1};
  for (int r = 1; r < 48; ++r) speeds.push_back(0.3 + 0.7 * (r * 7 % 47) / 47);
  const Settings s = {{"width", "400"},   {"pattern", "random"}, {"skew", "9"},      {"state", "80kB"},
                      {"weight", "19ms"}, {"home", "first"},     {"iterations", "8"}};
  EXPECT_LE(run("stencil", s, 48, true, speeds).time, 1.12 * run("stencil", s, 48, false, speeds).time);
}

TEST(Settling, BalancedProgramsAreLeftAlone) {
  const Settled r = run("iterate", {{"parts", "256"}, {"pattern", "equal"}, {"iterations", "50"}}, 16, true);
  EXPECT_LE(r.time, 1.01 * r.bound);
}

}  // namespace
}  // namespace tessera::balancer
