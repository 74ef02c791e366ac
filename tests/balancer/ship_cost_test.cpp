// What shipping a fragment costs both ranks besides the wire: fragments that weigh less stay, under every policy.
#include <gtest/gtest.h>

#include "balancer/simulator/workloads.hpp"
#include "balancer/weights.hpp"
#include "script.hpp"

namespace tessera::balancer {
namespace {

constexpr Time kShipCost = 600;

struct Case {
  Time weight = 500;
  Time ship_cost = kShipCost;
  bool bulk = false;
  const char* margin = nullptr;
};

// Of 40,000 fragments of known weight, all ready on rank 0 of 4, so many are moved.
std::int64_t moved(std::string_view balancer, const Case& c) {
  simulator::Workload w;
  GroupInfo& g = w.groups.emplace_back();
  g.stealable = true;
  g.bulk = c.bulk;
  g.profile_count = 1000;
  g.profile_weight = c.weight;
  for (int i = 0; i < 40'000; ++i) {
    w.births.push_back({0, Rank{0}, w.add({.group = Group{0}, .weight = c.weight})});
  }
  simulator::Options o;
  o.ranks = 4;
  o.latency = 1000;
  o.balancer = balancer;
  if (c.margin != nullptr) o.settings["transfer_margin"] = c.margin;
  o.processing.ship = c.ship_cost;
  return simulate(w, o).moved;
}

TEST(ShipCost, WhatIsLightStaysUnderEveryPolicy) {
  for (const PolicyInfo& p : policies()) {
    if (p.name == "none") continue;
    EXPECT_EQ(moved(p.name, {}), 0) << p.name;
    EXPECT_GT(moved(p.name, {.weight = 20'000}), 5'000) << p.name << ": it is worth it";
    EXPECT_GT(moved(p.name, {.ship_cost = 0}), 5'000) << p.name << ": it costs nothing";
    EXPECT_GT(moved(p.name, {.bulk = true}), 5'000) << p.name << ": more comes along";
    // Fewer: `demand` asks for no more before it has run some of its last block.
    EXPECT_GT(moved(p.name, {.margin = "0"}), 4'000) << p.name << ": all is to move";
  }
}

// Where moves have a price, that of what is asked for afterwards is part of it.
TEST(ShipCost, WhatIsAskedForCounts) {
  for (const char* name : {"auto", "central", "steal"}) EXPECT_EQ(moved(name, {.weight = 5'000}), 0) << name;
}

TEST(ShipCost, CountsOnceWhereAWeightIsKnown) {
  balancer::Setup two = setup(0, 2, 3);
  two.groups[1].bulk = true;
  Weights w(two.groups, 0);
  EXPECT_EQ(w.ship_cost(Group{0}, kShipCost), 0) << "one goes to find out";
  for (std::uint32_t g = 0; g < 2; ++g) w.completed(done(g, 10, 100));
  EXPECT_EQ(w.ship_cost(Group{0}, kShipCost), kShipCost);
  EXPECT_EQ(w.ship_cost(Group{1}, kShipCost), 0);
  EXPECT_EQ(w.ship_cost(Group{99}, kShipCost), 0) << "a group nobody announced";
}

// Iterations weigh what their kernels do, and cost as much each where these read values of others.
TEST(ShipCost, OfALoopItsKernelsCount) {
  for (const Time weight : {500, 5'000}) {
    for (const bool bulk : {false, true}) {
      balancer::Setup s = setup(0, 2, 2);
      s.ship_cost = kShipCost;
      s.groups[0].range = true;
      s.groups[0].body = {Group{1}};
      s.groups[0].bulk = bulk;
      Script rank("steal", s);
      rank.at(0, LinkMeasured{Rank{1}, 1'000, 1e9});
      rank.at(0, WentBusy{});
      rank.at(0, LoadChanged{{{Group{0}, 10'000, 0}}, {done(1, 100, weight)}});
      const auto ships = all<Ship>(rank.at(kMs, Received{Rank{1}, StealRequest{1, true}}));
      EXPECT_EQ(ships.size(), weight > 500 || bulk ? 1u : 0u) << weight << bulk;
    }
  }
}

// Iterations that weigh what may come of them: what is light stays, and of what is worth a message one goes for each
// request, for nobody knows how often that comes, nor what it reads (rows of an elimination: a quarter slower when many
// went at once).
TEST(ShipCost, OfWhatMayComeOfALoopOneGoes) {
  for (const Time weight : {500, 50'000}) {
    balancer::Setup s = setup(0, 2, 2);
    s.ship_cost = kShipCost;
    s.groups[0].range = true;
    s.groups[0].below = {Group{1}};
    Script rank("steal", s);
    rank.at(0, LinkMeasured{Rank{1}, 1'000, 1e9});
    rank.at(0, WentBusy{});
    rank.at(0, LoadChanged{{{Group{0}, 10'000, 0}}, {done(1, 100, weight)}});
    const auto ships = all<Ship>(rank.at(kMs, Received{Rank{1}, StealRequest{1, true}}));
    ASSERT_EQ(ships.size(), weight > 500 ? 1u : 0u) << weight;
    for (const Ship& one : ships) EXPECT_EQ(one.fragments, (std::vector<GroupCount>{{Group{0}, 1}}));
  }
}

// The fragments of searches make others; their weights are never known live, and then one goes for each request.
TEST(ShipCost, OfWhatNobodyHasSeenRunOneGoes) {
  balancer::Setup s = setup(0, 2, 2);
  s.ship_cost = kShipCost;
  Script rank("steal", s);
  rank.at(0, LinkMeasured{Rank{1}, 1'000, 1e9});
  rank.at(0, WentBusy{});
  rank.at(0, LoadChanged{{{Group{0}, 1'000, 0}, {Group{1}, 1'000, 0}}, {done(0, 100, 100)}});
  const auto ships = all<Ship>(rank.at(kMs, Received{Rank{1}, StealRequest{1, true}}));
  ASSERT_EQ(ships.size(), 1u);
  EXPECT_EQ(ships[0].fragments, (std::vector<GroupCount>{{Group{1}, 1}}));
}

}  // namespace
}  // namespace tessera::balancer
