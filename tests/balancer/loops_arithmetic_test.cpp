// The golden examples of the loop policies: which fragment goes to which worker.
#include <gtest/gtest.h>

#include "balancer/loops/deal.hpp"
#include "balancer/loops/runs.hpp"
#include "balancer/loops/team.hpp"

namespace tessera::balancer {
namespace {

using Chunks = std::vector<std::int64_t>;

std::vector<std::size_t> dealt(const DealOrder& order, std::size_t from, std::size_t to) {
  std::vector<std::size_t> workers;
  for (std::size_t w = from; w < to; ++w) workers.push_back(order[w % order.size()] + 1);
  return workers;
}

TEST(Deal, EqualIsCyclic) {
  EXPECT_EQ(dealt(equal_order(3), 0, 7), (std::vector<std::size_t>{1, 2, 3, 1, 2, 3, 1}));
  EXPECT_EQ(deal_counts(equal_order(3), 3, 0, 7), (Chunks{3, 2, 2}));
  EXPECT_EQ(deal_counts(equal_order(3), 3, 7, 2), (Chunks{0, 1, 1})) << "goes on where it was";
}

TEST(Deal, PredictiveBlock) {
  const auto ratios = deal_ratios({3, 3, 2, 2, 1, 1});
  EXPECT_EQ(ratios, (Chunks{3, 3, 2, 2, 1, 1}));
  const DealOrder block = predictive_order(ratios);
  EXPECT_EQ(dealt(block, 0, 12), (std::vector<std::size_t>{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 1, 2}));
  EXPECT_EQ(dealt(block, 96, 100), (std::vector<std::size_t>{1, 2, 3, 4}));
  EXPECT_EQ(deal_counts(block, 6, 0, 100), (Chunks{25, 25, 17, 17, 8, 8}));
}

TEST(Deal, RatiosAreRoundedAndNeverZero) {
  EXPECT_EQ(deal_ratios({1.0, 0.4, 0.61}), (Chunks{3, 1, 2}));
  EXPECT_EQ(deal_ratios({5, 5}), (Chunks{1, 1}));
  EXPECT_EQ(deal_ratios({1, 1e-9}), (Chunks{kMostPerBlock, 1})) << "a block stays finite";
}

TEST(Deal, CountsInPartsAreCountsOfTheWhole) {
  const DealOrder block = predictive_order(deal_ratios({4, 1, 2}));
  Chunks sum(3, 0);
  std::int64_t at = 0;
  for (const std::int64_t part : {1, 5, 0, 13, 2, 40}) {
    const Chunks c = deal_counts(block, 3, at, part);
    for (std::size_t j = 0; j < 3; ++j) sum[j] += c[j];
    at += part;
  }
  EXPECT_EQ(sum, deal_counts(block, 3, 0, at));
}

// W=100, powers 3,3,2,2,1,1, Li=12 %, Cb=5.
TEST(Runs, TheGoldenLoop) {
  const Chunks runs = first_runs({3, 3, 2, 2, 1, 1}, 100, 12);
  std::int64_t next = 1;
  std::vector<std::pair<std::int64_t, std::int64_t>> got;
  for (const std::int64_t n : runs) {
    got.emplace_back(next, next + n - 1);
    next += n;
  }
  using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(got, (Pairs{{1, 3}, {4, 6}, {7, 8}, {9, 10}, {11, 11}, {12, 12}}));

  Blocks blocks(5);
  got.clear();
  for (int request = 0; request < 7; ++request) {  // of m3 m6 m1 m2 m3 m4 m1
    const std::int64_t n = blocks.next(100 - next + 1);
    got.emplace_back(next, next + n - 1);
    next += n;
  }
  EXPECT_EQ(got, (Pairs{{13, 17}, {18, 21}, {22, 24}, {25, 26}, {27, 27}, {28, 28}, {29, 29}}));
}

TEST(Runs, NothingFirst) {
  EXPECT_EQ(first_runs({3, 1}, 100, 0), (Chunks{0, 0}));
  Blocks blocks(5);
  EXPECT_EQ(blocks.next(100), 5);
}

// Each of 4 x 0.5 rounds up to 1, and there are 2.
TEST(Runs, RoundingUpGivesNoMoreThanThereAre) {
  EXPECT_EQ(first_runs({1, 1, 1, 1}, 2, 100), (Chunks{1, 1, 0, 0}));
  EXPECT_EQ(first_runs({0, 0}, 10, 50), (Chunks{0, 0})) << "no power, no division by it";
}

TEST(Runs, ABlockIsNeverMoreThanIsLeft) {
  Blocks blocks(5);
  EXPECT_EQ(blocks.next(2), 2);
  EXPECT_EQ(blocks.next(0), 0);
  EXPECT_EQ(blocks.size(), 4) << "a request that got nothing was not served";
}

TEST(Team, PowersComeFromTheParameterElseTheClusterElseAreOne) {
  balancer::Setup s;
  s.ranks = 3;
  s.powers = {1, 2};
  EXPECT_EQ(Team(s, {}).powers(), (std::vector<double>{1, 2, 1}));
  EXPECT_EQ(Team(s, {4, 5, 6, 7}).powers(), (std::vector<double>{4, 5, 6}));
}

TEST(Team, StartsWithItselfAndLeavesOutWhoLeft) {
  balancer::Setup s;
  s.ranks = 4;
  s.rank = Rank{2};
  Team team(s, {});
  EXPECT_EQ(team.workers(), (std::vector<Rank>{Rank{2}, Rank{3}, Rank{0}, Rank{1}}));
  team.left(Rank{3});
  EXPECT_EQ(team.workers(), (std::vector<Rank>{Rank{2}, Rank{0}, Rank{1}}));
  team.joined(Rank{3});
  EXPECT_EQ(team.workers().size(), 4u);
}

TEST(Team, OutsideLoadTakesPowerAway) {
  EXPECT_EQ(outside_factor(0, 1, 1), 1);
  EXPECT_EQ(outside_factor(1, 1, 1), 2) << "(load + 1) / cpus";
  EXPECT_EQ(outside_factor(1, 1, 4), 1) << "there are cores enough";
  balancer::Setup s;
  s.ranks = 2;
  Team team(s, {6, 6});
  team.outside(Rank{1}, {2, 1});
  EXPECT_EQ(team.powers(), (std::vector<double>{6, 2}));
}

}  // namespace
}  // namespace tessera::balancer
