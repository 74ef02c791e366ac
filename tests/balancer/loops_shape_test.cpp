// The policies for loops over whole simulated runs: the order that the sources found, and ranks
// that come and go. bench/run loops prints the figures.
#include <gtest/gtest.h>

#include "balancer/random.hpp"
#include "balancer/simulator/workloads.hpp"

namespace tessera::balancer {
namespace {

using namespace simulator;

// 24 workers of powers 3, 2 and 1; the optimum is 16.
Options multicluster(const std::string& balancer, Settings settings = {}) {
  Options o;
  o.ranks = 24;
  for (int r = 0; r < 24; ++r) o.speeds.push_back((3 - r / 8) / 3.0);
  o.balancer = balancer;
  o.settings = std::move(settings);
  return o;
}

// Fragments of 1 to 9 ms; neighbours are alike, as in the source's loop.
Workload loop() {
  Workload w;
  Random random(5);
  w.groups.resize(1);
  for (int i = 0; i < 2400; ++i) {
    const int around = i / 100 % 5;
    const auto weight = static_cast<Time>((1.0 + around * 1.5 + 2 * random.unit()) * 1e6);
    w.births.push_back({0, Rank{0}, w.add({Group{0}, weight, 100})});
  }
  return w;
}

double speed_up(const Workload& w, const Outcome& o) {
  EXPECT_EQ(o.faults, std::vector<std::string>{});
  return static_cast<double>(w.work()) / static_cast<double>(o.finished);
}

TEST(LoopShapes, DemandBeatsPredictiveBeatsEqual) {
  const Workload w = loop();
  const Outcome equal = simulate(w, multicluster("equal"));
  const Outcome predictive = simulate(w, multicluster("predictive"));
  const Outcome demand = simulate(w, multicluster("demand"));
  EXPECT_LT(speed_up(w, equal), 8.1) << "24 equal parts end with the slowest";
  EXPECT_GT(speed_up(w, predictive), speed_up(w, equal) * 1.3);
  EXPECT_GT(speed_up(w, demand), speed_up(w, predictive) * 1.05);
  EXPECT_GT(speed_up(w, demand), 15);
  EXPECT_LT(demand.imbalance(), 0.11);
  EXPECT_GT(equal.imbalance(), 0.88);
  EXPECT_LT(predictive.imbalance(), equal.imbalance());
}

TEST(LoopShapes, AFirstRunThatIsTooLongCantBeTakenBack) {
  const Workload w = loop();
  const auto with = [&](const char* percent) {
    return speed_up(w, simulate(w, multicluster("demand", {{"first_percent", percent}})));
  };
  EXPECT_LT(with("100"), with("25") * 0.9);
  EXPECT_GT(with("0"), 14.5) << "Li = 0 works";
}

TEST(LoopShapes, MorePiecesMixNeighbours) {
  const Workload w = loop();
  EXPECT_GT(speed_up(w, simulate(w, multicluster("predictive", {{"pieces", "20"}}))),
            speed_up(w, simulate(w, multicluster("predictive"))));
}

TEST(LoopShapes, RanksComeAndGo) {
  for (const char* balancer : {"equal", "predictive", "demand", "proportional"}) {
    for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
      SCOPED_TRACE(std::string(balancer) + " seed " + std::to_string(seed));
      for (const Workload& w : {heap(400, 5'000'000), spawning(400, seed), bursts(5, seed)}) {
        Options o;
        o.ranks = 6;
        o.balancer = balancer;
        o.seed = seed;
        o.jitter = 2'000'000;
        o.absent = {Rank{5}};
        o.changes = {{30'000'000, Rank{2}, Change::Kind::leave, 0},
                     {60'000'000, Rank{5}, Change::Kind::join, 0},
                     {90'000'000, Rank{2}, Change::Kind::join, 0},
                     {90'000'000, Rank{3}, Change::Kind::outside_load, 3},
                     {120'000'000, Rank{1}, Change::Kind::leave, 0}};
        const Outcome out = simulate(w, o);
        EXPECT_EQ(out.faults, std::vector<std::string>{});
        EXPECT_EQ(out.executed, static_cast<std::int64_t>(w.fragments.size()));
        EXPECT_TRUE(out.ended);
        EXPECT_LE(out.most_moves, 12);
      }
    }
  }
}

// Iterations of 200 fragments and a barrier; rank 0 starts the next.
Workload iterative(int iterations) {
  Workload w;
  w.groups.resize(2);
  w.groups[1].never_moved = true;
  std::size_t previous = 0;
  for (int i = 0; i < iterations; ++i) {
    std::vector<std::size_t> born;
    Fragment end{Group{1}, 1000};
    end.home = Rank{0};
    for (int u = 0; u < 200; ++u) {
      Fragment f{Group{0}, 1'000'000, 1000};
      f.output = 8;
      f.home = Rank{0};
      born.push_back(w.add(f));
      end.inputs.push_back({born.back(), 8});
    }
    born.push_back(w.add(end));
    if (i == 0) {
      for (const std::size_t f : born) w.births.push_back({0, Rank{0}, f});
    } else {
      w.fragments[previous].children = born;
    }
    previous = born.back();
  }
  return w;
}

std::vector<Time> times(const std::string& balancer, Options o) {
  o.balancer = balancer;
  if (balancer == "proportional") o.settings = {{"powers", "1"}};  // not told
  std::vector<Time> all;
  Time before = 0;
  for (int i = 1; i <= 6; ++i) {
    const Outcome out = simulate(iterative(i), o);
    EXPECT_EQ(out.faults, std::vector<std::string>{});
    all.push_back(out.finished - before);
    before = out.finished;
  }
  return all;
}

TEST(LoopShapes, ProportionalBeatsEqualInEachIterationAfterTheFirst) {
  Options o;
  o.ranks = 4;
  o.speeds = {1, 1, 0.5, 0.25};
  const std::vector<Time> equal = times("equal", o), proportional = times("proportional", o);
  for (std::size_t i = 1; i < equal.size(); ++i) {
    EXPECT_LT(2 * proportional[i], equal[i]) << "iteration " << i + 1;
  }
}

TEST(LoopShapes, OnEqualRanksProportionalCostsLessThanOnePercent) {
  Options o;
  o.ranks = 4;
  const std::vector<Time> equal = times("equal", o), proportional = times("proportional", o);
  for (std::size_t i = 1; i < equal.size(); ++i) {
    EXPECT_LT(static_cast<double>(proportional[i]), 1.01 * static_cast<double>(equal[i])) << "iteration " << i + 1;
  }
}

}  // namespace
}  // namespace tessera::balancer
