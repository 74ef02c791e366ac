// `gossip`: rumours, and who gets what, as readable histories; and whole runs.
#include "balancer/gossip/rumours.hpp"
#include "balancer/simulator/workloads.hpp"
#include "script.hpp"

namespace tessera::balancer {
namespace {

TEST(Rumours, TheLatestWordCountsAndAnOldOneDoesNotComeBack) {
  Rumours r;
  Random random(1);
  EXPECT_TRUE(r.hear(0, {Rank{3}, 2, 5}));
  EXPECT_FALSE(r.hear(0, {Rank{3}, 2, 5}));
  EXPECT_FALSE(r.hear(0, {Rank{3}, 1, 0}));
  EXPECT_EQ(r.below(6, random), (std::vector<GossipLoad>{{Rank{3}, 2, 5}}));
  EXPECT_TRUE(r.below(5, random).empty());
  r.use_up(Rank{3});
  EXPECT_TRUE(r.nobody());
  EXPECT_FALSE(r.hear(0, {Rank{3}, 2, 5}));
  EXPECT_TRUE(r.hear(0, {Rank{3}, 3, 0}));
  r.use_up_all();
  EXPECT_TRUE(r.nobody());
  EXPECT_FALSE(r.hear(0, {Rank{3}, 3, 0}));
}

TEST(Rumours, TheMeanShrinksAsTimePasses) {
  Rumours r;
  EXPECT_EQ(r.mean(0, 60), 60);
  r.hear(0, {Rank{1}, 1, 120});
  r.hear(0, {Rank{2}, 1, 0});
  EXPECT_EQ(r.mean(0, 60), 60);
  EXPECT_EQ(r.mean(60, 60), 40);
  EXPECT_EQ(r.mean(1000, 60), 20);
}

TEST(Rumours, OfManySomeAreDrawn) {
  Rumours r;
  Random random(1);
  for (std::int32_t i = 0; i < 1000; ++i) r.hear(0, {Rank{i}, 1, 0});
  const std::vector<GossipLoad> some = r.below(1, random);
  ASSERT_EQ(some.size(), 64u);
  for (std::size_t i = 1; i < some.size(); ++i) EXPECT_LT(some[i - 1].rank, some[i].rank);
  EXPECT_GT(index(some.back().rank), 500) << "from all of them";
}

TEST(Gossip, AnIdleRankSaysSoEverLaterAndThenWaits) {
  Script s("gossip", setup(2, 8, 1, {{"attempts", "3"}, {"period", "0.001"}}));
  Actions actions = s.at(0, LinkMeasured{Rank{3}, 50'000, 1e9});
  std::vector<Time> waits;
  Time now = 0;
  for (int i = 0; i < 10; ++i) {
    const auto timers = all<SetTimer>(actions);
    if (timers.empty()) break;
    waits.push_back(timers[0].at - now);
    now = timers[0].at;
    actions = s.at(now, TimerFired{timers[0].timer});
    if (const auto news = sent<GossipNews>(actions); !news.empty()) {
      EXPECT_EQ(news.size(), 2u) << "fanout";
      EXPECT_NE(news[0].first, news[1].first);
      EXPECT_EQ(news[0].second.loads.size(), 1u);
      EXPECT_EQ(news[0].second.loads[0].rank, Rank{2});
    }
  }
  EXPECT_EQ(waits, (std::vector<Time>{kMs, 2 * kMs, 4 * kMs}));
  s.note("an offer: it answers, and says so once more");
  const auto again = sent<GossipNews>(s.at(now + kS, from(5, GossipOffer{})));
  ASSERT_EQ(again.size(), 3u);
  EXPECT_EQ(again[0].first, Rank{5});
  s.expect_golden("gossip_idle");
}

TEST(Gossip, WhoLearnsSomethingTellsOthersOnce) {
  Script s("gossip", setup(0, 8, 1));
  s.at(0, WentBusy{});  // it has nothing more, and says so
  const GossipNews news{2, {{Rank{4}, 7, 0}}};
  s.at(0, LoadChanged{});
  const auto timers = all<SetTimer>(s.at(kMs, from(4, news)));
  ASSERT_EQ(timers.size(), 1u);
  const auto told = sent<GossipNews>(s.at(timers[0].at, TimerFired{timers[0].timer}));
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].second.rounds, 1u);
  ASSERT_EQ(told[0].second.loads.size(), 2u);
  EXPECT_EQ(told[0].second.loads[0], news.loads[0]);
  EXPECT_EQ(told[0].second.loads[1].rank, Rank{0}) << "and what it has itself";
  EXPECT_TRUE(all<SetTimer>(s.at(2 * kMs, from(5, news))).empty()) << "known";
  EXPECT_TRUE(all<SetTimer>(s.at(3 * kMs, from(5, GossipNews{0, {{Rank{5}, 1, 0}}}))).empty()) << "has gone round";
  s.expect_golden("gossip_rumour");
}

TEST(Gossip, GivesToThoseItHasHeardOfAndKeepsMoreThanAnyOfThemGets) {
  Script s("gossip", setup(0, 8, 1));
  s.at(0, LinkMeasured{Rank{1}, 50'000, 1e9});
  s.at(0, WentBusy{});
  s.at(0, LoadChanged{{{Group{0}, 30, 0}}, {done(0, 9, 10 * kMs)}});
  const auto shipped = all<Ship>(s.at(kMs, from(3, GossipNews{0, {{Rank{3}, 1, 0}, {Rank{4}, 1, 0}}})));
  ASSERT_EQ(shipped.size(), 2u);
  std::int64_t went = 0;
  for (const Ship& ship : shipped) {
    ASSERT_EQ(ship.fragments.size(), 1u);
    EXPECT_LE(ship.fragments[0].count, 11);
    EXPECT_GE(ship.fragments[0].count, 8);
    went += ship.fragments[0].count;
    s.at(kMs, Shipped{ship.ticket, ship.to, ship.fragments, 0});
  }
  EXPECT_LE(went, 21);
  EXPECT_TRUE(all<Ship>(s.at(2 * kMs, from(5, GossipNews{0, {{Rank{3}, 1, 0}}}))).empty()) << "an old rumour";
}

TEST(Gossip, OneThatWaitsIsNotHandedToAndFro) {
  Script s("gossip", setup(0, 2, 1));
  s.at(0, WentBusy{});
  s.at(0, LoadChanged{{{Group{0}, 1, 0}}, {done(0, 9, 10 * kMs)}});
  EXPECT_TRUE(all<Ship>(s.at(kMs, from(1, GossipNews{0, {{Rank{1}, 1, 5 * kMs}}}))).empty()) << "it runs one, too";
  EXPECT_EQ(all<Ship>(s.at(kMs, from(1, GossipNews{0, {{Rank{1}, 2, 0}}}))).size(), 1u);
}

TEST(Gossip, OffersNowAndThenWhenItKnowsOfNobody) {
  Script s("gossip", setup(0, 8, 1));
  s.at(0, WentBusy{});
  const Actions first = s.at(0, LoadChanged{{{Group{0}, 30, 0}}, {done(0, 9, 10 * kMs)}});
  EXPECT_EQ(sent<GossipOffer>(first).size(), 2u);
  EXPECT_TRUE(sent<GossipOffer>(s.at(1, LoadChanged{{{Group{0}, 29, 0}}, {}})).empty());
  const auto timers = all<SetTimer>(first);
  ASSERT_EQ(timers.size(), 1u);
  EXPECT_EQ(sent<GossipOffer>(s.at(timers[0].at, TimerFired{timers[0].timer})).size(), 2u);
}

TEST(Gossip, SpreadsAHeapOverManyRanks) {
  simulator::Options o;
  o.ranks = 64;
  o.balancer = "gossip";
  const simulator::Outcome out = simulator::simulate(simulator::heap(64 * 40, 5 * kMs, 1000), o);
  EXPECT_GT(out.efficiency(), 0.8) << out.finished;
}

}  // namespace
}  // namespace tessera::balancer
