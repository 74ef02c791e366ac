// Links between hosts, and the price of a move.
#include <gtest/gtest.h>

#include "balancer/central/plan_price.hpp"
#include "times.hpp"

namespace tessera::balancer {
namespace {

// Ranks 0 and 1, and 2 and 3, share a host.
TEST(Links, AWayToAnotherHostIsNeverTakenForOneInsideAHost) {
  Links links(Hosts({0, 0, 1, 1, 2}));
  const Link inside{1'000, 1e10}, outside{1'000'000, 1e7};
  links.set(Rank{0}, Rank{1}, inside);
  links.set_default(inside);
  EXPECT_FALSE(links.between(Rank{0}, Rank{2}).measured);
  links.set(Rank{0}, Rank{2}, outside);
  EXPECT_EQ(links.between(Rank{1}, Rank{3}), outside) << "the same two hosts";
  EXPECT_EQ(links.between(Rank{3}, Rank{1}), outside) << "and back";
  EXPECT_EQ(links.between(Rank{1}, Rank{4}), outside) << "the worst that leads there";
  EXPECT_EQ(links.between(Rank{1}, Rank{0}), inside);
}

// Rank 0 measures its links to three others of seven, and no guess is mixed with them.
TEST(Links, AWayThatNobodyMeasuredIsLikeTheWayBack) {
  Links links;
  links.set(Rank{0}, {50'000, 1e8});
  links.set(Rank{3}, Rank{0}, {900'000, 6e5});
  EXPECT_EQ(links.between(Rank{0}, Rank{3}).bandwidth, 6e5) << "it is behind a slow line, as it has found itself";
  EXPECT_EQ(links.between(Rank{0}, Rank{2}).bandwidth, 1e8);
  links.set(Rank{0}, Rank{3}, {900'000, 5e5});
  EXPECT_EQ(links.between(Rank{0}, Rank{3}).bandwidth, 5e5);
}

TEST(Links, AWayThatNobodyMeasuredIsLikeTheWorstThatWas) {
  Links links;
  const Link fast{20'000, 1e9}, faster{10'000, 2e9}, slow{90'000, 1e8};
  links.measured(Rank{0}, Rank{1}, fast);
  EXPECT_EQ(links.between(Rank{0}, Rank{5}), fast);
  links.measured(Rank{0}, Rank{2}, faster);
  EXPECT_EQ(links.between(Rank{0}, Rank{5}), fast);
  links.measured(Rank{0}, Rank{4}, slow);
  EXPECT_EQ(links.between(Rank{0}, Rank{5}), slow);
  EXPECT_EQ(links.between(Rank{0}, Rank{1}), fast);
}

// 20 of 10 ms; the line takes 25 ms for the inputs of each, twice as long as running it takes and more. One line and
// one rank side by side: what the line has carried in time goes, and no more.
TEST(Price, ASlowLineCarriesWhatItCanMeanwhile) {
  Computing from{200.0 * kMs, 1}, to{0, 1};
  LineUse line;
  const Lot lot{.count = 20, .work = 10.0 * kMs, .out = 25.0 * kMs, .in = 0, .latency = 0, .order = 0};
  EXPECT_EQ(affordable(lot, 0, from, to, line), 5);
  EXPECT_EQ(from.finish, 150.0 * kMs);
  EXPECT_EQ(line.out, 125.0 * kMs);
}

TEST(Price, WhatComesBackTooLateStays) {
  Computing from{30.0 * kMs, 1}, to{0, 1};
  LineUse line;
  const Lot lot{.count = 2, .work = 10.0 * kMs, .out = 0, .in = 25.0 * kMs, .latency = 0, .order = 0};
  EXPECT_EQ(affordable(lot, 0, from, to, line), 0);
}

// Four ranks of a host, 12 of 10 ms on the first, a fifth rank far away: by when that has its first, all are done.
TEST(Price, WhatIsDoneSoonerNearByDoesNotGoFar) {
  std::vector<Load> loads(5);
  loads[0].groups = {{Group{0}, 12, 10 * kMs, 1'000'000}};
  const Link near{1'000, 1e10}, far{1'000'000, 4e7};  // 26 ms for one
  Ways ways;
  ways.link = [&](std::size_t, std::size_t to) -> const Link& { return to < 4 ? near : far; };
  ways.line = [](std::size_t, std::size_t to) { return to < 4 ? 0 : 1; };
  ways.use = [](std::int64_t) { return LineUse{}; };
  Plan plan = {{0, 1, {{Group{0}, 2}}}, {0, 4, {{Group{0}, 2}}}};
  cut_to_price(loads, ways, plan);
  EXPECT_EQ(plan, (Plan{{0, 1, {{Group{0}, 2}}}}));
}

}  // namespace
}  // namespace tessera::balancer
