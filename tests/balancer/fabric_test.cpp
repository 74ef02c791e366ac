// Lines between hosts: which a message takes, and what it means for time. And items that come while others run.
#include <cmath>

#include "balancer/simulator/workloads.hpp"
#include "balancer/simulator/workloads/catalogue.hpp"
#include "script.hpp"

namespace tessera::balancer::simulator {
namespace {

Fabric::Route route(const Fabric& f, std::size_t from, std::size_t to) {
  Fabric::Route r;
  f.route(from, to, r);
  return r;
}

TEST(Fabric, ATorusIsCrossedTheShorterWayDimensionByDimension) {
  const Fabric f({}, {{4, 3}, 10, 1e9}, 12);  // host = x + 4 y
  EXPECT_EQ(f.lines(), 12u * 2 * 2);
  const auto line = [](std::uint32_t host, std::uint32_t dimension, bool up) {
    return (host * 2 + dimension) * 2 + (up ? 0 : 1);
  };
  EXPECT_TRUE(route(f, 5, 5).lines.empty());
  EXPECT_EQ(route(f, 0, 1).lines, (std::vector<std::uint32_t>{line(0, 0, true)}));
  EXPECT_EQ(route(f, 0, 3).lines, (std::vector<std::uint32_t>{line(0, 0, false)})) << "round the back";
  EXPECT_EQ(route(f, 0, 2).lines, (std::vector<std::uint32_t>{line(0, 0, true), line(1, 0, true)})) << "as short";
  const Fabric::Route far = route(f, 3, 8);  // (3, 0) to (0, 2)
  EXPECT_EQ(far.lines, (std::vector<std::uint32_t>{line(3, 0, true), line(0, 1, false)}));
  EXPECT_EQ(far.latency, 20);
  for (std::size_t a = 0; a < 12; ++a) {
    for (std::size_t b = 0; b < 12; ++b) EXPECT_LE(route(f, a, b).lines.size(), 3u);
  }
}

TEST(Fabric, ATreeIsCrossedUpToTheLowestSwitchOfBoth) {
  const Fabric f({{2, 1, 10, 1e9}, {3, 2, 100, 2e9}}, {}, 12);  // pairs of hosts, groups of 6
  EXPECT_EQ(f.lines(), 6u * 2 + 2 * 2 * 2);
  EXPECT_TRUE(route(f, 0, 1).lines.empty());
  EXPECT_EQ(route(f, 0, 2).lines, (std::vector<std::uint32_t>{0, 3})) << "out of the first pair, into the second";
  EXPECT_EQ(route(f, 0, 2).latency, 10);
  const Fabric::Route far = route(f, 1, 11);
  ASSERT_EQ(far.lines.size(), 4u);
  EXPECT_EQ(far.latency, 110);
  EXPECT_EQ(far.lines[0], 0u);
  EXPECT_EQ(far.lines[3], 11u);
  EXPECT_EQ(f.bandwidth(far.lines[0]), 1e9);
  EXPECT_EQ(f.bandwidth(far.lines[1]), 2e9);
  bool both[2] = {false, false};
  for (std::size_t a = 0; a < 6; ++a) {
    for (std::size_t b = 6; b < 12; ++b) both[(route(f, a, b).lines[1] - 12) % 2] = true;
  }
  EXPECT_TRUE(both[0] && both[1]) << "pairs of hosts share the lines out";
}

// Ships to where a test wants it, all at once.
Time spread(std::int32_t ranks, const std::function<void(Options&)>& change) {
  Options o;
  o.ranks = ranks;
  o.bandwidth = 1e9;
  o.latency = 1'000;
  o.balancer = "equal";
  o.settings = {{"transfer_margin", "0"}};
  change(o);
  EXPECT_EQ(check_options(o), std::vector<std::string>{});
  const Outcome out = simulate(heap(ranks * 4, kMs, 1'000'000), o);
  EXPECT_EQ(out.faults, std::vector<std::string>{});
  return out.finished;
}

TEST(Fabric, NarrowLinesTakeTime) {
  const Time flat = spread(16, [](Options&) {});
  const Time wide = spread(16, [](Options& o) { o.tiers = {{4, 1, 0, 1e9}}; });
  const Time narrow = spread(16, [](Options& o) { o.tiers = {{4, 1, 0, 1e8}}; });
  const Time fat = spread(16, [](Options& o) { o.tiers = {{4, 16, 0, 1e8}}; });
  const Time torus = spread(16, [](Options& o) { o.torus = {{4, 4}, 1'000, 1e8}; });
  // Rank 0 sends 60 MB, 48 of them out of its group of four.
  EXPECT_NEAR(static_cast<double>(wide), static_cast<double>(flat), 0.1 * static_cast<double>(flat));
  EXPECT_GT(narrow, 480 * kMs);
  EXPECT_LT(fat, narrow / 3);
  EXPECT_GT(torus, 60'000'000 * 10 / 4) << "four lines leave rank 0";
  EXPECT_LT(torus, narrow);
}

TEST(Fabric, ATorusThatIsTooSmallIsRefused) {
  Options o;
  o.ranks = 17;
  o.torus.sides = {4, 4};
  const auto wrong = check_options(o);
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_EQ(wrong[0], "the torus has 16 hosts, but there are 17");
}

// Queues of which the answer is known.
Outcome queue(std::int32_t ranks, const std::string& balancer, const Settings& parameters) {
  Options o;
  o.ranks = ranks;
  o.balancer = balancer;
  const Generated made = generate(*find_workload("loop"), parameters, {ranks, 1});
  return simulate(*made.program, o);
}

TEST(OpenArrivals, AQueueOfRandomWorkWaitsAsTheFormulaSays) {
  Settings s = {{"items", "200000"}, {"weight", "10ms"}, {"weights", "exponential"}, {"arrivals", "poisson"}};
  for (const auto& [gap, load] : {std::pair{"20ms", 0.5}, std::pair{"12500us", 0.8}}) {
    s["gap"] = gap;
    const Outcome out = queue(1, "none", s);
    EXPECT_EQ(out.sojourns.count(), 200'000);
    const double expected = 10e6 / (1 - load);  // of M/M/1, exponential with this mean
    EXPECT_NEAR(out.sojourns.mean(), expected, 0.06 * expected) << load;
    EXPECT_NEAR(static_cast<double>(out.sojourns.quantile(0.5)), expected * std::log(2), 0.06 * expected);
    EXPECT_NEAR(static_cast<double>(out.sojourns.quantile(0.95)), expected * std::log(20), 0.25 * expected);
  }
  s["weights"] = "equal";  // M/D/1: half of the waiting
  const Outcome equal = queue(1, "none", s);
  EXPECT_NEAR(equal.sojourns.mean(), 10e6 * (1 + 0.8 / (2 * 0.2)), 0.05 * 30e6);
}

TEST(OpenArrivals, RanksThatShareWaitLess) {
  const Settings s = {{"items", "20000"}, {"weight", "10ms"},      {"weights", "exponential"},
                      {"gap", "1562us"},  {"arrivals", "poisson"}, {"born", "random"}};
  const double alone = queue(8, "none", s).sojourns.mean();
  EXPECT_NEAR(alone, 50e6, 10e6) << "eight queues at 80 %";
  // One queue for eight would be at 13 ms.
  EXPECT_LT(queue(8, "steal", s).sojourns.mean(), 20e6);
  EXPECT_GT(queue(8, "steal", s).sojourns.mean(), 12e6);
}

TEST(OpenArrivals, EvenOnesComeOneAfterTheOther) {
  const Outcome out = queue(1, "none", {{"items", "100"}, {"weight", "1ms"}, {"arrivals", "even"}, {"gap", "2ms"}});
  EXPECT_EQ(out.finished, 99 * 2 * kMs + kMs);
  EXPECT_EQ(out.critical_path, out.finished);
  EXPECT_EQ(out.sojourns.longest(), kMs);
  EXPECT_NEAR(static_cast<double>(out.sojourns.quantile(0.5)), 1e6, 1e4);
}

TEST(Sojourns, SharesAreWithinOnePerCent) {
  Sojourns s;
  for (Time t = 1; t <= 1000; ++t) s.add(t * 1000);
  EXPECT_EQ(s.mean(), 500'500);
  EXPECT_EQ(s.longest(), 1'000'000);
  for (const double share : {0.1, 0.5, 0.9, 0.99}) {
    EXPECT_NEAR(static_cast<double>(s.quantile(share)), share * 1e6, 0.01 * share * 1e6);
  }
}

}  // namespace
}  // namespace tessera::balancer::simulator
