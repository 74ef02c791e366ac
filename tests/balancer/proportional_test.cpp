// `proportional` as readable histories.
#include "script.hpp"

namespace tessera::balancer {
namespace {

using Counts = std::map<std::int32_t, std::int64_t>;

// The master's side: its shipments are carried out, and it can be told that they are done.
class Master {
 public:
  explicit Master(Setup setup) : script_("proportional", std::move(setup)) { script_.at(0, WentBusy{}); }
  Actions at(Time now, const Event& event) {
    const Actions a = script_.at(now, event);
    for (const Ship& ship : all<Ship>(a)) {
      ships_[index(ship.to)] = ship;
      script_.at(now, Shipped{ship.ticket, ship.to, ship.fragments, 0});
    }
    return a;
  }
  // The shares of others that `n` new fragments make.
  Counts iteration(Time now, std::int64_t n) {
    ships_.clear();
    at(now, ready(n));
    return out();
  }
  Counts out() const {
    Counts c;
    for (const auto& [to, ship] : ships_) c[to] = ship.fragments[0].count;
    return c;
  }
  ShareDone answer(std::int32_t rank) const {
    const Ship& s = ships_.at(rank);
    return {s.ticket, s.fragments[0].count};
  }
  void done(Time now, std::int32_t rank) { at(now, from(rank, answer(rank))); }
  void own_done(Time now, std::int64_t units) {
    at(now, ready(0));
    at(now, LoadChanged{{}, {tessera::balancer::done(0, units, kMs)}});
  }
  Script& script() { return script_; }

 private:
  Script script_;
  std::map<std::int32_t, Ship> ships_;
};

TEST(Proportional, TheSecondIterationFollowsTheRatesOfTheFirst) {
  Master m(setup(0, 3, 1));
  EXPECT_EQ(m.iteration(0, 60), (Counts{{1, 20}, {2, 20}}));
  m.own_done(20 * kMs, 20);
  m.done(40 * kMs, 1);
  m.done(80 * kMs, 2);
  m.script().note("rates of 1, 1/2 and 1/4 a millisecond; the fastest first");
  EXPECT_EQ(m.iteration(100 * kMs, 70), (Counts{{1, 20}, {2, 10}}));
  m.own_done(140 * kMs, 40);
  m.done(140 * kMs, 1);
  m.done(140 * kMs, 2);
  m.script().note("balanced: the same proportions");
  EXPECT_EQ(m.iteration(200 * kMs, 35), (Counts{{1, 10}, {2, 5}}));
  m.script().expect_golden("proportional_iterations");
}

TEST(Proportional, PowersCountUntilRatesAreMeasured) {
  Master m(setup(0, 2, 1, {{"powers", "1,3"}}));
  EXPECT_EQ(m.iteration(0, 40), (Counts{{1, 30}}));
}

TEST(Proportional, ANewIterationWaitsForTheLastReports) {
  Master m(setup(0, 2, 1));
  m.iteration(0, 20);
  m.own_done(10 * kMs, 10);
  const Actions a = m.at(31 * kMs, ready(20));
  EXPECT_TRUE(all<Ship>(a).empty());
  ASSERT_EQ(all<SetTimer>(a).size(), 1u);
  const auto shared = all<Ship>(m.at(32 * kMs, from(1, m.answer(1))));
  ASSERT_EQ(shared.size(), 1u);
  EXPECT_EQ(shared[0].fragments[0].count, 5) << "10 ms and 32 ms for ten";
}

TEST(Proportional, ButNotForEver) {
  Master m(setup(0, 2, 1));
  m.iteration(0, 20);
  const Time at = all<SetTimer>(m.at(kMs, ready(30)))[0].at;
  EXPECT_EQ(at, 6 * kMs);
  m.script().note("the first iteration goes on, in the same proportions");
  EXPECT_EQ(all<Ship>(m.at(at, TimerFired{1})).size(), 1u);
}

TEST(Proportional, AWorkerTellsWhenItsShareIsDone) {
  Script s("proportional", setup(1, 2, 1));
  s.at(0, WentBusy{});
  s.at(0, Arrived{Rank{0}, {{Group{0}, 4}}, 17});
  EXPECT_TRUE(s.at(0, ready(3)).empty());
  EXPECT_TRUE(s.at(kMs, ready(0, {done(0, 3, kMs)})).empty());
  EXPECT_EQ(sent<ShareDone>(s.at(2 * kMs, LoadChanged{{}, {done(0, 1, kMs)}})),
            (std::vector<std::pair<Rank, ShareDone>>{{Rank{0}, {17, 4}}}));
  s.expect_golden("proportional_worker");
}

TEST(Proportional, FragmentsThatAreNotCountedEndTheirShareWhenTheRankIsIdle) {
  Script s("proportional", setup(1, 2, 1));
  s.at(0, WentBusy{});
  s.at(0, Arrived{Rank{0}, {{Group{0}, 100}}, 1});
  s.at(kMs, ready(50, {done(0, 3, 1000)}));
  EXPECT_TRUE(s.at(2 * kMs, ready(0)).empty());
  EXPECT_EQ(sent<ShareDone>(s.at(2 * kMs, WentIdle{})).size(), 1u);
}

TEST(Proportional, AShareThatIsDoneBeforeTheHostLooksIsDoneToo) {
  Script s("proportional", setup(1, 2, 1));
  const auto timer = all<SetTimer>(s.at(0, Arrived{Rank{0}, {{Group{0}, 2}}, 1}));
  ASSERT_EQ(timer.size(), 1u);
  EXPECT_TRUE(sent<ShareDone>(s.at(timer[0].at, TimerFired{timer[0].timer})).empty())
      << "the host has not said what became of them";
  s.at(6 * kMs, ready(0));
  EXPECT_EQ(sent<ShareDone>(s.at(6 * kMs, WentIdle{})).size(), 1u);
}

TEST(Proportional, OutsideLoadThatRoseByOneMakesNewShares) {
  Master m(setup(0, 2, 1));
  m.iteration(0, 20);
  m.own_done(10 * kMs, 10);
  m.done(10 * kMs, 1);
  m.at(11 * kMs, from(1, OutsideTasks{1, 1}));
  EXPECT_EQ(m.iteration(20 * kMs, 30), (Counts{{1, 10}})) << "balanced, yet half as fast now";
}

TEST(Proportional, WhoLeavesIsNotWaitedForAndWhoJoinsGetsAShare) {
  Master m(setup(0, 3, 1));
  m.iteration(0, 30);
  m.own_done(10 * kMs, 10);
  m.done(10 * kMs, 1);
  m.at(11 * kMs, RankLeaving{Rank{2}});
  EXPECT_EQ(m.iteration(20 * kMs, 30), (Counts{{1, 15}}));
  m.own_done(35 * kMs, 15);
  m.done(35 * kMs, 1);
  m.at(36 * kMs, RankJoined{Rank{2}});
  const Counts third = m.iteration(40 * kMs, 30);
  EXPECT_EQ(third.size(), 2u) << "without history: by its power";
}

TEST(Proportional, ASilentWorkerIsLeftOutUntilItAnswers) {
  Master m(setup(0, 3, 1, {{"slack", "2"}}));
  m.iteration(0, 30);
  m.own_done(10 * kMs, 10);
  m.done(10 * kMs, 1);
  m.done(10 * kMs, 2);
  m.iteration(20 * kMs, 30);
  const ShareDone late = m.answer(2);
  m.own_done(30 * kMs, 10);
  m.done(30 * kMs, 1);
  m.script().note("twice its time and five retries later");
  const Actions a = m.at(50 * kMs, TimerFired{2});
  EXPECT_EQ(sent<HandOver>(a), (std::vector<std::pair<Rank, HandOver>>{{Rank{2}, {Group{0}, {Rank{0}, Rank{1}}}}}));
  EXPECT_EQ(m.iteration(60 * kMs, 30), (Counts{{1, 15}}));
  m.script().note("its late answer says nothing of its rate, but that it is there");
  m.at(61 * kMs, from(2, late));
  m.own_done(75 * kMs, 15);
  m.done(75 * kMs, 1);
  EXPECT_EQ(m.iteration(80 * kMs, 30).size(), 2u);
  m.script().expect_golden("proportional_silent");
}

TEST(Proportional, AnOverdueWorkerHandsOverWhatItHasNotStarted) {
  Script s("proportional", setup(2, 4, 1));
  s.at(0, WentBusy{});
  s.at(0, Arrived{Rank{0}, {{Group{0}, 5}}, 9});
  s.at(0, ready(4));
  const auto ships = all<Ship>(s.at(kMs, from(0, HandOver{Group{0}, {Rank{0}, Rank{1}, Rank{2}, Rank{3}}})));
  ASSERT_EQ(ships.size(), 3u) << "not to itself";
  std::int64_t sum = 0;
  for (const Ship& ship : ships) {
    sum += ship.fragments[0].count;
    s.at(kMs, Shipped{ship.ticket, ship.to, ship.fragments, 0});
  }
  EXPECT_EQ(sum, 4);
  s.at(2 * kMs, ready(0));
  EXPECT_EQ(sent<ShareDone>(s.at(2 * kMs, LoadChanged{{}, {done(0, 1, kMs)}})).size(), 1u)
      << "the one that ran here is all that is waited for";
}

TEST(Proportional, WhatCameFromAnotherWorkerIsNotHandedOver) {
  Script s("proportional", setup(2, 3, 1));
  s.at(0, WentBusy{});
  s.at(0, Arrived{Rank{1}, {{Group{0}, 5}}, 9});
  s.at(0, ready(5));
  EXPECT_TRUE(all<Ship>(s.at(kMs, from(0, HandOver{Group{0}, {Rank{1}}}))).empty());
}

}  // namespace
}  // namespace tessera::balancer
