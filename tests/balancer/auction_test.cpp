// `auction`, `torus`, `tree`: the protocol and its costs as readable histories.
#include "script.hpp"

namespace tessera::balancer {
namespace {

LoadChanged offers(std::int64_t count, std::int64_t bytes = 0) {
  return {{{Group{0}, count, bytes}}, {done(0, 1, 10 * kMs)}};
}
std::vector<Rank> receivers(const std::vector<std::pair<Rank, AuctionQuestion>>& questions) {
  std::vector<Rank> ranks;
  for (const auto& [to, question] : questions) ranks.push_back(to);
  return ranks;
}
std::size_t messages(const Actions& actions) { return all<Send>(actions).size(); }

// One auction of n ranks costs 2(n-1) questions and answers, a request and the work.
TEST(Auction, AsksEverybodyThenTheMostLoaded) {
  Script s("auction", setup(2, 5, 1));
  const auto asked = sent<AuctionQuestion>(s.at(0, link()));
  EXPECT_EQ(receivers(asked), (std::vector{Rank{0}, Rank{1}, Rank{3}, Rank{4}}));
  std::size_t count = asked.size();
  Actions last;
  const std::int64_t loads[] = {3, 9, 0, 9};
  for (std::size_t i = 0; i < asked.size(); ++i) {
    EXPECT_TRUE(last.empty()) << "before all have answered";
    last = s.at(kMs, Received{asked[i].first, AuctionAnswer{1, loads[i]}});
    ++count;
  }
  const auto requests = sent<AuctionRequest>(last);
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].first, Rank{1}) << "the largest; of equal ones the lowest rank";
  EXPECT_EQ(messages(last), 1u);
  EXPECT_TRUE(s.at(2 * kMs, Arrived{Rank{1}, {{Group{0}, 4}}, 1}).empty());
  EXPECT_EQ(count + 2, 2u * 4 + 2) << "2(n-1) + request and work";
  s.expect_golden("auction_asks");
}

TEST(Auction, OnATorusTheQuestionsAndAnswersAreEight) {
  Script s("torus", setup(4, 9, 1));
  EXPECT_EQ(sent<AuctionQuestion>(s.at(0, link())).size(), 4u);
  Script ring("torus", setup(4, 7, 1));
  EXPECT_EQ(sent<AuctionQuestion>(ring.at(0, link())).size(), 2u);
  Script tree("tree", setup(1, 7, 1));
  EXPECT_EQ(receivers(sent<AuctionQuestion>(tree.at(0, link()))), (std::vector{Rank{0}, Rank{3}, Rank{4}}));
}

TEST(Auction, AFailedOneTellsAllNeighboursAndSleeps) {
  Script s("torus", setup(4, 9, 1));
  const auto asked = sent<AuctionQuestion>(s.at(0, link()));
  Actions last;
  for (const auto& [to, question] : asked) last = s.at(kMs, Received{to, AuctionAnswer{question.number, 0}});
  EXPECT_EQ(sent<AuctionUnloaded>(last).size(), 4u);
  EXPECT_EQ(messages(last), 4u);
  s.note("asleep: silent, whatever happens but a wake-up");
  EXPECT_TRUE(s.at(2 * kMs, WentBusy{}).empty());
  EXPECT_TRUE(s.at(3 * kMs, WentIdle{}).empty());
  EXPECT_TRUE(s.at(kS, LoadChanged{{}, {done(0, 1, kMs)}}).empty());
  EXPECT_EQ(sent<AuctionQuestion>(s.at(kS, from(5, AuctionWake{}))).size(), 4u);
  s.expect_golden("torus_failed");
}

TEST(Auction, GivesHalfAndNeverItsLast) {
  Script s("auction", setup(0, 2, 1));
  s.at(0, WentBusy{});
  s.at(0, offers(9));
  const auto shipped = all<Ship>(s.at(kMs, from(1, AuctionRequest{1})));
  ASSERT_EQ(shipped.size(), 1u);
  EXPECT_EQ(fragments(shipped[0]), 4);
  s.at(kMs, Shipped{shipped[0].ticket, Rank{1}, shipped[0].fragments, 0});
  s.at(2 * kMs, offers(1));
  s.note("one is left: it stays");
  EXPECT_EQ(sent<AuctionRefusal>(s.at(3 * kMs, from(1, AuctionRequest{2}))).size(), 1u);
  s.expect_golden("auction_gives");
}

// Of r requests that wait together each gets 1/(r+1).
TEST(Auction, SharesAmongThoseWhoWaitTogether) {
  Script s("auction", setup(0, 4, 1));
  s.at(0, WentBusy{});
  s.at(0, offers(40));
  for (const std::int32_t r : {1, 2, 3}) s.at(kMs, from(r, AuctionQuestion{1}));
  s.note("the others have just asked for the load: wait for them");
  EXPECT_TRUE(all<Ship>(s.at(kMs + 100'000, from(1, AuctionRequest{1}))).empty());
  EXPECT_TRUE(all<Ship>(s.at(kMs + 110'000, from(3, AuctionRequest{1}))).empty());
  const auto shipped = all<Ship>(s.at(kMs + 120'000, from(2, AuctionRequest{1})));
  ASSERT_EQ(shipped.size(), 3u);
  for (const Ship& ship : shipped) EXPECT_EQ(fragments(ship), 10);
  s.expect_golden("auction_shares");
}

TEST(Auction, WaitsForOthersOnlyAMoment) {
  Script s("auction", setup(0, 4, 1));
  s.at(0, LinkMeasured{Rank{1}, 50'000, 1e9});
  s.at(0, WentBusy{});
  s.at(0, offers(40));
  for (const std::int32_t r : {1, 2}) s.at(kMs, from(r, AuctionQuestion{1}));
  const auto timers = all<SetTimer>(s.at(kMs, from(1, AuctionRequest{1})));
  ASSERT_EQ(timers.size(), 1u);
  EXPECT_EQ(timers[0].at, kMs + 4 * 50'000);
  const auto shipped = all<Ship>(s.at(timers[0].at, TimerFired{timers[0].timer}));
  ASSERT_EQ(shipped.size(), 1u);
  EXPECT_EQ(fragments(shipped[0]), 20);
}

TEST(Auction, FewerFragmentsThanRequestsGoOneByOne) {
  Script s("auction", setup(0, 9, 1, {{"collect", "1"}}));
  s.at(0, WentBusy{});
  s.at(0, offers(4));
  for (std::int32_t r = 1; r < 9; ++r) s.at(kMs, from(r, AuctionQuestion{1}));
  Actions last;
  for (std::int32_t r = 1; r < 9; ++r) last = s.at(kMs, from(r, AuctionRequest{1}));
  EXPECT_EQ(all<Ship>(last).size(), 3u) << "one stays";
  EXPECT_EQ(sent<AuctionRefusal>(last).size(), 5u);
}

TEST(Auction, ARefusalGoesOnToTheNextBestThenToSleep) {
  Script s("auction", setup(0, 4, 1));
  s.at(0, link());
  s.at(kMs, from(1, AuctionAnswer{1, 5}));
  s.at(kMs, from(2, AuctionAnswer{1, 7}));
  EXPECT_EQ(sent<AuctionRequest>(s.at(kMs, from(3, AuctionAnswer{1, 0})))[0].first, Rank{2});
  EXPECT_EQ(sent<AuctionRequest>(s.at(2 * kMs, from(2, AuctionRefusal{1})))[0].first, Rank{1});
  const Actions last = s.at(3 * kMs, from(1, AuctionRefusal{1}));
  EXPECT_EQ(sent<AuctionUnloaded>(last).size(), 3u);
  EXPECT_TRUE(sent<AuctionRequest>(last).empty()) << "3 has nothing";
  s.expect_golden("auction_refused");
}

// ---- faults of the source

TEST(AuctionFaults, LoadIsAddedOnArrivalNotOverwritten) {
  Script s("auction", setup(0, 2, 1));
  s.at(0, WentBusy{});
  s.at(0, offers(6));
  s.at(kMs, Arrived{Rank{1}, {{Group{0}, 4}}, 1});
  const auto answers = sent<AuctionAnswer>(s.at(kMs, from(1, AuctionQuestion{1})));
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].second.load, 10);
}

TEST(AuctionFaults, AWakeUpInTheMiddleOfAnAuctionStartsNoOther) {
  Script s("tree", setup(1, 7, 1));
  s.at(0, link());
  EXPECT_TRUE(s.at(kMs, from(3, AuctionWake{})).empty());
  s.at(kMs, from(0, AuctionAnswer{1, 0}));
  s.at(kMs, from(4, AuctionAnswer{1, 0}));
  EXPECT_EQ(sent<AuctionRequest>(s.at(2 * kMs, from(3, AuctionAnswer{1, 2}))).size(), 1u);
  EXPECT_TRUE(s.at(2 * kMs, from(0, AuctionWake{})).empty());
}

TEST(AuctionFaults, ALoadedRankIgnoresAWakeUp) {
  Script s("tree", setup(1, 7, 1));
  s.at(0, WentBusy{});
  s.at(0, offers(5));
  for (const std::int32_t r : {0, 3, 4}) EXPECT_TRUE(s.at(kMs, from(r, AuctionWake{})).empty());
}

TEST(AuctionFaults, LoadThatAppearsWithoutAShipmentWakesSleepers) {
  Script s("torus", setup(4, 9, 1));
  s.at(0, WentBusy{});
  EXPECT_TRUE(sent<AuctionWake>(s.at(0, from(3, AuctionUnloaded{}))).empty());
  const auto woken = sent<AuctionWake>(s.at(kMs, offers(8)));
  ASSERT_EQ(woken.size(), 1u);
  EXPECT_EQ(woken[0].first, Rank{3});
  s.note("woken once; it has been forgotten");
  EXPECT_TRUE(sent<AuctionWake>(s.at(2 * kMs, offers(9))).empty());
  s.note("with surplus here a sleeper is woken at once");
  EXPECT_EQ(sent<AuctionWake>(s.at(3 * kMs, from(5, AuctionUnloaded{}))).size(), 1u);
  s.expect_golden("torus_wakes");
}

TEST(AuctionFaults, ArrivedWorkWakesSleepersToo) {
  Script s("torus", setup(4, 9, 1));
  s.at(0, from(3, AuctionUnloaded{}));
  EXPECT_EQ(sent<AuctionWake>(s.at(kMs, Arrived{Rank{1}, {{Group{0}, 8}}, 1})).size(), 1u);
}

// The source asks again at once, for ever, a neighbour whose load it may not have.
TEST(AuctionFaults, NobodyIsAskedInALoopForLoadThatItMayNotGive) {
  for (const char* faithful : {"false", "true"}) {
    Script giver("auction", setup(0, 2, 1, {{"faithful", faithful}}));
    giver.at(0, WentBusy{});
    giver.at(0, offers(1));
    // With `faithful` it says 1, and refuses; the asker sleeps and is not woken for this one.
    giver.at(kMs, from(1, AuctionRequest{1}));
    EXPECT_TRUE(sent<AuctionWake>(giver.at(kMs, from(1, AuctionUnloaded{}))).empty());
    EXPECT_TRUE(sent<AuctionWake>(giver.at(2 * kMs, LoadChanged{{}, {}})).empty());

    Script asker("auction", setup(1, 2, 1, {{"faithful", faithful}}));
    asker.at(0, link());
    asker.at(kMs, from(0, AuctionAnswer{1, 1}));
    EXPECT_EQ(sent<AuctionUnloaded>(asker.at(2 * kMs, from(0, AuctionRefusal{1}))).size(), 1u);
    EXPECT_TRUE(asker.at(10 * kMs, LoadChanged{{}, {}}).empty());
  }
}

TEST(AuctionFaults, FailuresInARowBackOff) {
  Script s("auction", setup(1, 2, 1, {{"backoff", "0.01"}}));
  s.at(0, link());
  s.at(0, from(0, AuctionAnswer{1, 0}));
  const auto timers = all<SetTimer>(s.at(kMs, from(0, AuctionWake{})));
  ASSERT_EQ(timers.size(), 1u);
  EXPECT_EQ(timers[0].at, 10 * kMs);
  EXPECT_TRUE(s.at(2 * kMs, from(0, AuctionWake{})).empty()) << "one timer";
  EXPECT_EQ(sent<AuctionQuestion>(s.at(10 * kMs, TimerFired{timers[0].timer})).size(), 1u);
  s.at(10 * kMs, from(0, AuctionAnswer{2, 0}));
  EXPECT_EQ(all<SetTimer>(s.at(11 * kMs, from(0, AuctionWake{})))[0].at, 30 * kMs) << "twice as long";
}

// No fixed time: on a quick network it would be most of a short run.
TEST(Auction, BackOffAndWakeUpsKeepTheTimeOfAnAuction) {
  Script asker("auction", setup(1, 2, 1));
  asker.at(0, LinkMeasured{Rank{0}, 50'000, 1e9});
  asker.at(0, LinkMeasured{Rank{0}, 2'000, 1e9});  // the longest counts: all answers are awaited
  asker.at(0, from(0, AuctionAnswer{1, 0}));
  const auto timers = all<SetTimer>(asker.at(100'000, from(0, AuctionWake{})));
  ASSERT_EQ(timers.size(), 1u);
  EXPECT_EQ(timers[0].at, 4 * 50'000);

  Script giver("auction", setup(0, 9, 1));
  giver.at(0, LinkMeasured{Rank{1}, 50'000, 1e9});
  giver.at(0, WentBusy{});
  for (std::int32_t r = 1; r < 9; ++r) giver.at(0, from(r, AuctionUnloaded{}));
  const Actions woken = giver.at(kMs, offers(4));
  EXPECT_EQ(sent<AuctionWake>(woken).size(), 2u) << "as many as could get one";
  ASSERT_EQ(all<SetTimer>(woken).size(), 1u);
  EXPECT_EQ(all<SetTimer>(woken)[0].at, kMs + 4 * 50'000);
}

// What its threads are about to take is not load that others may have: it would be passed on for
// ever.
TEST(AuctionFaults, JustArrivedFragmentsAreNotPassedOn) {
  Script s("auction", setup(0, 3, 1));
  s.at(0, Arrived{Rank{1}, {{Group{0}, 2}}, 1});
  EXPECT_EQ(sent<AuctionAnswer>(s.at(0, from(2, AuctionQuestion{1})))[0].second.load, 0);
  EXPECT_EQ(sent<AuctionRefusal>(s.at(0, from(2, AuctionRequest{1}))).size(), 1u);
}

TEST(AuctionFaults, ARunningFragmentIsNoReasonToCallTheRankEmpty) {
  // faithful: asks only when nothing runs either.
  Script s("auction", setup(0, 3, 1, {{"faithful", "true"}}));
  s.at(0, WentBusy{});
  s.at(0, offers(3));
  EXPECT_TRUE(s.at(kMs, LoadChanged{{{Group{0}, 0, 0}}, {}}).empty());
  EXPECT_EQ(sent<AuctionQuestion>(s.at(2 * kMs, WentIdle{})).size(), 2u);
}

// ---- what moving costs

TEST(Auction, WhatCostsMoreToMoveThanToRunIsNoLoad) {
  for (const char* faithful : {"false", "true"}) {
    Script s("auction", setup(0, 2, 1, {{"faithful", faithful}}));
    s.at(0, link());
    s.at(0, WentBusy{});
    // 10 ms each, inputs of 20 MB over 1 GB/s: 20 ms.
    s.at(0, LoadChanged{{{Group{0}, 8, 8 * 20'000'000}}, {done(0, 9, 10 * kMs)}});
    const auto answers = sent<AuctionAnswer>(s.at(kMs, from(1, AuctionQuestion{1})));
    EXPECT_EQ(answers[0].second.load, *faithful == 't' ? 8 : 0);
    EXPECT_EQ(all<Ship>(s.at(kMs, from(1, AuctionRequest{1}))).size(), *faithful == 't' ? 1u : 0u);
    EXPECT_TRUE(*faithful == 't' || sent<AuctionWake>(s.at(kMs, from(1, AuctionUnloaded{}))).empty());
  }
}

TEST(Auction, AShipmentIsShortEnoughForTheReceiverToStart) {
  Script s("auction", setup(0, 2, 1));
  s.at(0, link());
  s.at(0, WentBusy{});
  // 2 ms of transfer each; max_transfer is 20 ms.
  s.at(0, LoadChanged{{{Group{0}, 100, 100 * 2'000'000}}, {done(0, 9, 60 * kMs)}});
  EXPECT_EQ(fragments(all<Ship>(s.at(kMs, from(1, AuctionRequest{1})))[0]), 10);
}

TEST(Auction, TheShareIsTakenFromAllGroups) {
  Script s("auction", setup(0, 2, 3));
  s.at(0, WentBusy{});
  s.at(0, LoadChanged{{{Group{0}, 6, 0}, {Group{1}, 3, 0}, {Group{2}, 4, 0}},
                      {done(0, 1, 10 * kMs), done(1, 1, 10 * kMs), done(2, 1, 10 * kMs)}});
  EXPECT_EQ(all<Ship>(s.at(kMs, from(1, AuctionRequest{1})))[0].fragments,
            (std::vector<GroupCount>{{Group{0}, 2}, {Group{1}, 2}, {Group{2}, 2}}));
}

// What a fragment of such a group weighs and makes is not known, and what has moved can't be taken back.
TEST(Auction, OfAGroupThatNobodyHasSeenRunOneGoesPerThread) {
  for (const char* policy : {"auction", "torus", "tree"}) {
    balancer::Setup two_threads = setup(0, 2, 1);
    two_threads.workers = 2;
    Script s(policy, two_threads);
    s.at(0, WentBusy{});
    s.at(0, LoadChanged{{{Group{0}, 100, 0}}, {}});
    EXPECT_EQ(fragments(all<Ship>(s.at(kMs, from(1, AuctionRequest{1})))[0]), 2) << policy;
    s.at(2 * kMs, LoadChanged{{{Group{0}, 98, 0}}, {done(0, 1, kMs)}});
    EXPECT_EQ(fragments(all<Ship>(s.at(3 * kMs, from(1, AuctionRequest{2})))[0]), 48) << policy;
  }
}

TEST(Auction, AShipmentWithNothingInItIsARefusal) {
  Script s("auction", setup(0, 2, 1));
  s.at(0, WentBusy{});
  s.at(0, offers(8));
  const auto shipped = all<Ship>(s.at(kMs, from(1, AuctionRequest{7})));
  const auto refused = sent<AuctionRefusal>(s.at(kMs, Shipped{shipped[0].ticket, Rank{1}, {}, 0}));
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].second.number, 7u);
}

// ---- ranks that leave and join

TEST(AuctionRanks, AnAnswerOwedByARankThatLeavesIsZero) {
  Script s("auction", setup(0, 4, 1));
  s.at(0, link());
  s.at(kMs, from(1, AuctionAnswer{1, 0}));
  s.at(kMs, from(2, AuctionAnswer{1, 6}));
  s.note("3 leaves: its answer counts as zero");
  EXPECT_EQ(sent<AuctionRequest>(s.at(2 * kMs, RankLeaving{Rank{3}}))[0].first, Rank{2});
  s.note("2 leaves: as if it had refused");
  const auto told = sent<AuctionUnloaded>(s.at(3 * kMs, RankLeaving{Rank{2}}));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].first, Rank{1}) << "only who is still there";
  s.note("a rank that joins is a new hope");
  EXPECT_EQ(receivers(sent<AuctionQuestion>(s.at(kS, RankJoined{Rank{3}}))), (std::vector{Rank{1}, Rank{3}}));
  s.expect_golden("auction_leaving");
}

TEST(AuctionRanks, ALeavingRankGivesAllToItsNeighboursAndAsksForNothing) {
  Script s("tree", setup(1, 7, 1));
  s.at(0, WentBusy{});
  s.at(0, offers(7));
  const auto shipped = all<Ship>(s.at(kMs, RankLeaving{Rank{1}}));
  ASSERT_EQ(shipped.size(), 3u);
  EXPECT_EQ(fragments(shipped[0]) + fragments(shipped[1]) + fragments(shipped[2]), 7);
  for (const Ship& ship : shipped) s.at(kMs, Shipped{ship.ticket, ship.to, ship.fragments, 0});
  s.note("what still arrives goes on; a question is answered with zero, a request refused");
  EXPECT_EQ(all<Ship>(s.at(2 * kMs, Arrived{Rank{0}, {{Group{0}, 1}}, 9})).size(), 1u);
  EXPECT_EQ(sent<AuctionAnswer>(s.at(2 * kMs, from(0, AuctionQuestion{3})))[0].second.load, 0);
  EXPECT_EQ(sent<AuctionRefusal>(s.at(2 * kMs, from(0, AuctionRequest{3}))).size(), 1u);
  EXPECT_TRUE(s.at(3 * kMs, LoadChanged{{{Group{0}, 0, 0}}, {}}).empty());
  EXPECT_TRUE(s.at(3 * kMs, WentIdle{}).empty());
  s.expect_golden("tree_leaving");
}

TEST(AuctionRanks, ALeavingRankWithoutNeighboursGivesToAnybody) {
  Script s("tree", setup(6, 7, 1));
  s.at(0, WentBusy{});
  s.at(0, offers(2));
  s.at(0, RankLeaving{Rank{6}});
  const auto after = [&](std::int32_t gone) { return s.at(kMs, RankLeaving{Rank{gone}}); };
  after(2);
  const auto shipped = all<Ship>(s.at(2 * kMs, Arrived{Rank{0}, {{Group{0}, 1}}, 9}));
  ASSERT_EQ(shipped.size(), 1u);
  EXPECT_EQ(shipped[0].to, Rank{0});
}

TEST(AuctionRanks, NobodyWakesOrFeedsARankThatLeft) {
  Script s("auction", setup(0, 3, 1));
  s.at(0, WentBusy{});
  s.at(0, from(1, AuctionUnloaded{}));
  s.at(0, RankLeaving{Rank{1}});
  EXPECT_TRUE(s.at(kMs, offers(8)).empty());
  s.at(kMs, from(2, AuctionQuestion{1}));
  s.at(kMs, from(1, AuctionUnloaded{}));
  EXPECT_TRUE(sent<AuctionWake>(s.at(2 * kMs, offers(9))).empty());
}

}  // namespace
}  // namespace tessera::balancer
