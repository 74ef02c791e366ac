// `diffusion`: what flows, and what neighbours hear, as readable histories; and whole runs.
#include "balancer/simulator/workloads.hpp"
#include "script.hpp"

namespace tessera::balancer {
namespace {

std::int64_t count(const Actions& actions, std::int32_t to) {
  std::int64_t n = 0;
  for (const Ship& s : all<Ship>(actions)) {
    for (const GroupCount& f : s.fragments) n += s.to == Rank{to} ? f.count : 0;
  }
  return n;
}

// A ring of five: neighbours 1 and 4, so a third of the difference flows.
TEST(Diffusion, AThirdOfTheDifferenceFlowsToEachOfTwo) {
  Script s("diffusion", setup(0, 5, 1));
  s.at(0, LinkMeasured{Rank{1}, 50'000, 1e9});
  s.at(0, WentBusy{});
  s.at(0, LoadChanged{{{Group{0}, 30, 0}}, {done(0, 9, 10 * kMs)}});
  EXPECT_EQ(count(s.at(kMs, from(1, DiffusionLoad{0, false})), 1), 10);
  s.note("what has gone counts as his");
  s.at(kMs, Shipped{1, Rank{1}, {{Group{0}, 10}}, 0});
  EXPECT_TRUE(all<Ship>(s.at(2 * kMs, LoadChanged{{{Group{0}, 20, 0}}, {}})).size() <= 1);
  EXPECT_EQ(count(s.at(3 * kMs, from(4, DiffusionLoad{300 * kMs, false})), 4), 0) << "he has more";
  EXPECT_TRUE(all<Ship>(s.at(3 * kMs, from(2, DiffusionLoad{0, true}))).empty()) << "no neighbour";
  s.expect_golden("diffusion_flow");
}

TEST(Diffusion, NeighboursAreToldOfChangesAndNotTooOften) {
  Script s("diffusion", setup(0, 5, 1));
  s.at(0, WentBusy{});
  EXPECT_EQ(sent<DiffusionLoad>(s.at(0, LoadChanged{{{Group{0}, 100, 0}}, {done(0, 9, 10 * kMs)}})).size(), 2u);
  EXPECT_TRUE(sent<DiffusionLoad>(s.at(100'000, LoadChanged{{{Group{0}, 50, 0}}, {}})).empty()) << "too soon";
  EXPECT_EQ(sent<DiffusionLoad>(s.at(kMs, TimerFired{1})).size(), 2u);
  s.at(2 * kMs, TimerFired{1});
  EXPECT_TRUE(sent<DiffusionLoad>(s.at(3 * kMs, LoadChanged{{{Group{0}, 49, 0}}, {}})).empty()) << "hardly a change";
  EXPECT_EQ(sent<DiffusionLoad>(s.at(4 * kMs, LoadChanged{{{Group{0}, 0, 0}}, {}})).size(), 2u) << "nothing is left";
  s.expect_golden("diffusion_tells");
}

// What came is over before anybody has looked. The giver takes us for busy, so it must hear that we are not.
TEST(Diffusion, WhoIsIdleAgainSaysSoAgain) {
  Script s("diffusion", setup(1, 5, 1));
  EXPECT_EQ(sent<DiffusionLoad>(s.at(0, WentIdle{})).size(), 2u);
  s.at(kMs, TimerFired{1});
  EXPECT_TRUE(sent<DiffusionLoad>(s.at(2 * kMs, WentIdle{})).empty());
  s.at(3 * kMs, Arrived{Rank{0}, {{Group{0}, 1}}, 1});
  s.at(4 * kMs, TimerFired{1});
  EXPECT_EQ(sent<DiffusionLoad>(s.at(4 * kMs, LoadChanged{})).size(), 2u);
}

TEST(Diffusion, OneIsBetterThanNoneWhereNothingRuns) {
  for (const bool idle : {true, false}) {
    Script s("diffusion", setup(0, 5, 1));
    s.at(0, WentBusy{});
    s.at(0, LoadChanged{{{Group{0}, 1, 0}}, {done(0, 9, 10 * kMs)}});
    EXPECT_EQ(count(s.at(kMs, from(1, DiffusionLoad{0, idle})), 1), idle ? 1 : 0);
  }
}

TEST(Diffusion, FlowsAcrossAGridAndATree) {
  for (const char* shape : {"torus", "tree", "everyone"}) {
    simulator::Options o;
    o.ranks = 16;
    o.balancer = "diffusion";
    o.settings = {{"neighbours", shape}};
    const simulator::Outcome out = simulator::simulate(simulator::heap(16 * 60, 5 * kMs, 1000), o);
    EXPECT_GT(out.efficiency(), 0.7) << shape << " " << out.finished;
  }
}

}  // namespace
}  // namespace tessera::balancer
