// `equal`, `predictive` and `demand` as readable histories.
#include "script.hpp"

namespace tessera::balancer {
namespace {

// By destination, all groups together; carries the shipments out in full.
std::map<std::int32_t, std::int64_t> shipped(Script& s, Time now, const Actions& actions) {
  std::map<std::int32_t, std::int64_t> counts;
  for (const Ship& ship : all<Ship>(actions)) {
    for (const GroupCount& f : ship.fragments) counts[index(ship.to)] += f.count;
    s.at(now, Shipped{ship.ticket, ship.to, ship.fragments, 0});
  }
  return counts;
}
using Counts = std::map<std::int32_t, std::int64_t>;

TEST(Equal, DealsWhatIsBornAndGoesOnWhereItWas) {
  Script s("equal", setup(0, 3, 1));
  s.at(0, WentBusy{});
  s.note("seven: three stay, two each go, in one shipment each");
  EXPECT_EQ(shipped(s, kMs, s.at(kMs, ready(7))), (Counts{{1, 2}, {2, 2}}));
  EXPECT_TRUE(s.at(2 * kMs, ready(3)).empty()) << "its own share is not dealt again";
  s.note("two more are the turns of ranks 1 and 2");
  EXPECT_EQ(shipped(s, 3 * kMs, s.at(3 * kMs, ready(5))), (Counts{{1, 1}, {2, 1}}));
  s.expect_golden("equal_deal");
}

TEST(Equal, WhatArrivedIsNotDealtAgain) {
  Script s("equal", setup(1, 3, 1));
  s.at(0, WentBusy{});
  s.at(kMs, Arrived{Rank{0}, {{Group{0}, 6}}, 1});
  EXPECT_TRUE(all<Ship>(s.at(kMs, ready(6))).empty());
  EXPECT_FALSE(all<Ship>(s.at(2 * kMs, ready(9))).empty()) << "three were born here";
}

TEST(Equal, IterationsOfALoopAreDealtOnce) {
  auto two = setup(0, 2, 2);
  two.groups[0].range = true;
  two.groups[0].body = {Group{1}};
  Script s("equal", two);
  s.at(0, WentBusy{});
  EXPECT_EQ(shipped(s, kMs, s.at(kMs, ready(10))), (Counts{{1, 5}}));
  s.note("its own iterations make fragments, which stay");
  EXPECT_TRUE(s.at(2 * kMs, LoadChanged{{{Group{0}, 2, 0}, {Group{1}, 3, 0}}, {}}).empty());
}

TEST(Equal, ALoopOfLoopsStaysWhereItIs) {
  auto outer = setup(0, 2, 1);
  outer.groups[0].range = true;  // no calls of its own
  Script s("equal", outer);
  s.at(0, WentBusy{});
  EXPECT_TRUE(s.at(kMs, ready(10)).empty());
}

TEST(Equal, QuietWhenTheTransferCostsMoreThanTheWork) {
  for (const char* margin : {"1", "0"}) {
    Script s("equal", setup(0, 2, 1, {{"transfer_margin", margin}}));
    s.at(0, WentBusy{});
    s.at(0, LinkMeasured{Rank{1}, 50'000, 1e9});
    s.at(kMs, LoadChanged{{}, {done(0, 10, kMs)}});
    const Actions a = s.at(2 * kMs, ready(8, {}, 8 * 10'000'000));  // 10 ms of wire each
    EXPECT_EQ(all<Ship>(a).empty(), *margin == '1') << "0: as in the source";
  }
}

// 100 kB each take 10 ms. Nobody knows what they weigh: each rank gets one to find out, and only if it is worth it the
// rest goes.
TEST(Equal, OfLargeInputsOneEachGoesUntilTheirWeightIsKnown) {
  for (const Time weight : {kMs, 100 * kMs}) {
    Script s("equal", setup(0, 3, 1));
    s.at(0, WentBusy{});
    for (const std::int32_t peer : {1, 2}) s.at(0, LinkMeasured{Rank{peer}, 50'000, 1e7});
    EXPECT_EQ(shipped(s, kMs, s.at(kMs, ready(30, {}, 30 * 100'000))), (Counts{{1, 1}, {2, 1}}));
    EXPECT_TRUE(s.at(2 * kMs, ready(28, {}, 28 * 100'000)).empty());
    const Actions a = s.at(3 * kMs, ready(27, {done(0, 1, weight)}, 27 * 100'000));
    EXPECT_EQ(shipped(s, 3 * kMs, a), (weight == kMs ? Counts{} : Counts{{1, 9}, {2, 9}}));
  }
  Script s("equal", setup(0, 3, 1, {{"transfer_margin", "0"}}));
  s.at(0, WentBusy{});
  EXPECT_EQ(shipped(s, kMs, s.at(kMs, ready(30, {}, 30 * 100'000))), (Counts{{1, 10}, {2, 10}})) << "as in the source";
}

TEST(Equal, AShipmentIsCutSoThatItsReceiverStartsSoon) {
  Script s("equal", setup(0, 2, 1));
  s.at(0, WentBusy{});
  s.at(0, LinkMeasured{Rank{1}, 50'000, 1e9});
  s.at(0, LoadChanged{{}, {done(0, 1, 1000 * kMs)}});
  // 10 MB each take 10 ms, two of them the 20 ms that one shipment may take.
  EXPECT_EQ(all<Ship>(s.at(kMs, ready(20, {}, 20 * 10'000'000))).size(), 5u);
}

TEST(Equal, PiecesSpreadNeighbours) {
  Script s("equal", setup(0, 3, 1, {{"pieces", "2"}}));
  s.at(0, WentBusy{});
  std::vector<std::int32_t> to;
  for (const Ship& ship : all<Ship>(s.at(kMs, ready(12)))) to.push_back(index(ship.to));
  EXPECT_EQ(to, (std::vector<std::int32_t>{1, 2, 1, 2}));
}

TEST(Equal, ALoneFragmentOfAnIdleRankIsItsOwn) {
  Script s("equal", setup(0, 2, 1));
  EXPECT_TRUE(s.at(0, ready(1)).empty());
}

TEST(Equal, ALeavingRankGivesAllAwayAndTheOthersDoWithoutIt) {
  Script s("equal", setup(1, 3, 1));
  s.at(0, WentBusy{});
  s.at(0, Arrived{Rank{0}, {{Group{0}, 5}}, 1});
  s.at(0, ready(5));
  EXPECT_EQ(shipped(s, kMs, s.at(kMs, RankLeaving{Rank{1}})), (Counts{{0, 2}, {2, 3}}));
  EXPECT_EQ(shipped(s, 2 * kMs, s.at(2 * kMs, ready(2))), (Counts{{0, 1}, {2, 1}})) << "and what comes still";
  Script other("equal", setup(0, 3, 1));
  other.at(0, WentBusy{});
  other.at(0, RankLeaving{Rank{1}});
  EXPECT_EQ(shipped(other, kMs, other.at(kMs, ready(6))), (Counts{{2, 3}}));
  other.at(2 * kMs, RankJoined{Rank{1}});
  EXPECT_EQ(shipped(other, 3 * kMs, other.at(3 * kMs, ready(9))), (Counts{{1, 2}, {2, 2}}));
}

TEST(Predictive, DealsByPower) {
  Script s("predictive", setup(0, 6, 1, {{"powers", "3,3,2,2,1,1"}}));
  s.at(0, WentBusy{});
  EXPECT_EQ(shipped(s, kMs, s.at(kMs, ready(100))), (Counts{{1, 25}, {2, 17}, {3, 17}, {4, 8}, {5, 8}}));
  s.expect_golden("predictive_deal");
}

TEST(Predictive, PowersOfTheClusterFile) {
  auto s = setup(0, 2, 1);
  s.powers = {1, 3};
  Script script("predictive", s);
  script.at(0, WentBusy{});
  EXPECT_EQ(shipped(script, kMs, script.at(kMs, ready(8))), (Counts{{1, 6}}));
}

TEST(Predictive, OutsideLoadIsToldToTheDealerAndCounts) {
  Script slow("predictive", setup(1, 2, 1));
  const auto told = sent<OutsideTasks>(slow.at(0, OutsideLoad{1}));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].first, Rank{0});
  EXPECT_TRUE(slow.at(kMs, OutsideLoad{1.2}).empty()) << "hardly news";
  Script dealer("predictive", setup(0, 2, 1));
  dealer.at(0, WentBusy{});
  dealer.at(0, from(1, told[0].second));
  EXPECT_EQ(shipped(dealer, kMs, dealer.at(kMs, ready(9))), (Counts{{1, 3}}));
}

// ---- demand

TEST(Demand, FirstRunsThenBlocksThatShrink) {
  Script s("demand", setup(0, 6, 1, {{"powers", "3,3,2,2,1,1"}}));
  s.at(0, WentBusy{});
  EXPECT_EQ(shipped(s, kMs, s.at(kMs, ready(100))), (Counts{{1, 3}, {2, 2}, {3, 2}, {4, 1}, {5, 1}}));
  Time now = 2 * kMs;
  std::vector<std::int64_t> blocks;
  for (const std::int32_t r : {2, 5, 1, 4, 2, 3, 1}) {
    const auto got = shipped(s, now, s.at(now, from(r, BlockRequest{1})));
    ASSERT_EQ(got.size(), 1u);
    blocks.push_back(got.at(r));
    now += kMs;
  }
  EXPECT_EQ(blocks, (std::vector<std::int64_t>{5, 4, 3, 2, 1, 1, 1}));
  s.expect_golden("demand_master");
}

TEST(Demand, WithoutFirstRunsWorkersAreToldThatThereIsALoop) {
  Script s("demand", setup(0, 3, 1, {{"first_percent", "0"}}));
  s.at(0, WentBusy{});
  const Actions a = s.at(kMs, ready(100));
  EXPECT_TRUE(all<Ship>(a).empty());
  EXPECT_EQ(sent<LoopOpened>(a).size(), 2u);
  EXPECT_TRUE(s.at(2 * kMs, ready(150)).empty()) << "they know";
}

TEST(Demand, AWorkerAsksOneMasterAtATimeUntilNoneHasAnything) {
  Script s("demand", setup(2, 3, 1));
  EXPECT_TRUE(s.at(0, WentIdle{}).empty()) << "nobody is known to have anything";
  auto asked = sent<BlockRequest>(s.at(kMs, from(0, LoopOpened{})));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_TRUE(s.at(kMs, from(1, LoopOpened{})).empty()) << "one request at a time";
  asked = sent<BlockRequest>(s.at(2 * kMs, from(0, LoopDrained{asked[0].second.number})));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].first, Rank{1});
  EXPECT_TRUE(s.at(3 * kMs, from(1, LoopDrained{asked[0].second.number})).empty());
  s.note("work that comes tells of its master; more is asked for when it runs out");
  EXPECT_TRUE(s.at(4 * kMs, Arrived{Rank{1}, {{Group{0}, 2}}, 1}).empty());
  s.at(4 * kMs, ready(1));
  s.at(4 * kMs, WentBusy{});
  s.at(5 * kMs, ready(0));
  s.expect_golden("demand_worker");
}

// The first fragments of a loop weighed next to nothing, the one that runs now does not: what waits looks as if it were
// over soon.
TEST(Demand, AWorkerThatHasRunNothingOfItsBlockDoesNotAskForMore) {
  Script s("demand", setup(1, 3, 1, {{"transfer_margin", "0"}}));
  s.at(0, Received{Rank{0}, LoopOpened{}});
  s.at(0, LoadChanged{{}, {done(0, 9, 10)}});
  s.at(1 * kMs, Arrived{Rank{0}, {{Group{0}, 5}}, 1});
  s.at(1 * kMs, WentBusy{});
  EXPECT_TRUE(sent<BlockRequest>(s.at(1 * kMs, LoadChanged{{{Group{0}, 4, 0}}, {}})).empty());
  EXPECT_EQ(sent<BlockRequest>(s.at(9 * kMs, LoadChanged{{{Group{0}, 3, 0}}, {done(0, 1, 10)}})).size(), 1u);
}

TEST(Demand, ARefusedWorkerIsWokenOnceByWhatIsBorn) {
  Script s("demand", setup(0, 3, 1, {{"first_percent", "0"}}));
  s.at(0, WentBusy{});
  s.at(0, ready(2));
  shipped(s, kMs, s.at(kMs, from(1, BlockRequest{1})));
  EXPECT_EQ(sent<LoopDrained>(s.at(2 * kMs, from(2, BlockRequest{7}))),
            (std::vector<std::pair<Rank, LoopDrained>>{{Rank{2}, {7}}}));
  const auto woken = sent<LoopOpened>(s.at(3 * kMs, ready(1)));
  ASSERT_EQ(woken.size(), 1u) << "one for one fragment";
  EXPECT_EQ(woken[0].first, Rank{2});
}

TEST(Demand, ABlockThatRanMeanwhileIsARefusal) {
  Script s("demand", setup(0, 2, 1, {{"first_percent", "0"}}));
  s.at(0, WentBusy{});
  s.at(0, ready(2));
  const auto ships = all<Ship>(s.at(kMs, from(1, BlockRequest{4})));
  ASSERT_EQ(ships.size(), 1u);
  EXPECT_EQ(sent<LoopDrained>(s.at(kMs, Shipped{ships[0].ticket, Rank{1}, {}, 0})).size(), 1u);
}

TEST(Demand, ABlockRepaysItsMessage) {
  Script s("demand", setup(0, 2, 1, {{"first_percent", "0"}, {"block", "1"}}));
  s.at(0, WentBusy{});
  s.at(0, LinkMeasured{Rank{1}, 50'000, 1e9});
  s.at(0, ready(1000, {done(0, 50, 1'000)}));
  // 50 fragments of 1 us are worth 50 us of latency; the next power of two is 64.
  EXPECT_EQ(shipped(s, kMs, s.at(kMs, from(1, BlockRequest{1}))), (Counts{{1, 64}}));
}

TEST(Demand, AMasterThatLeavesIsNotAskedAndNotWaitedFor) {
  Script s("demand", setup(2, 3, 1));
  s.at(0, from(0, LoopOpened{}));  // asks
  s.at(0, from(1, LoopOpened{}));
  const auto asked = sent<BlockRequest>(s.at(kMs, RankLeaving{Rank{0}}));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].first, Rank{1});
  EXPECT_TRUE(s.at(2 * kMs, from(0, LoopOpened{})).empty()) << "said before it left";
}

}  // namespace
}  // namespace tessera::balancer
