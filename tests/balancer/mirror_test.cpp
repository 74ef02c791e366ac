// `mirror`: the formulas of the state table, and the protocol as readable histories.
#include "balancer/mirror/table.hpp"
#include "script.hpp"

namespace tessera::balancer {
namespace {

MirrorState state(Time units, double tasks = 1) { return {1, tasks, units}; }
// `count` fragments of 10 ms.
LoadChanged of_10_ms(std::int64_t count) { return {{{Group{0}, count, 0}}, {done(0, 1, 10 * kMs)}}; }

// ---- the formulas

TEST(MirrorTable, TasksAreTheMeanOverTheRun) {
  // 30 s with 1 task, then 10 s with 5.
  EXPECT_DOUBLE_EQ(smoothed_tasks(1, 30 * kS, 5, 10 * kS), 2);
  EXPECT_DOUBLE_EQ(smoothed_tasks(4, 0, 3, 10 * kS), 3) << "no past, no weight";
  EXPECT_DOUBLE_EQ(smoothed_tasks(1, 10 * kS, 0, 10 * kS), 1) << "the rank itself is one";
  EXPECT_DOUBLE_EQ(smoothed_tasks(1, 0, 0, 0), 1);
}

TEST(MirrorTable, ShareDoneAndRemaining) {
  // 100 units at 2 per ns: half done after 25 ns alone, a quarter with a competing task.
  EXPECT_DOUBLE_EQ(share_done(2, 25, 100, 1), 0.5);
  EXPECT_DOUBLE_EQ(share_done(2, 25, 100, 2), 0.25);
  EXPECT_DOUBLE_EQ(share_done(2, 500, 100, 1), 1) << "not more than all";
  EXPECT_DOUBLE_EQ(share_done(2, 25, 0, 1), 1) << "C = 0 divides nothing";
  EXPECT_EQ(remaining_work(100, 0.25), 75);
  EXPECT_EQ(remaining_work(100, 1.5), 0);
  EXPECT_EQ(remaining_work(100, -1), 100);
}

TEST(MirrorTable, TheMirroredPosition) {
  EXPECT_EQ(mirrored(1, 5), 5);
  EXPECT_EQ(mirrored(2, 5), 4);
  EXPECT_EQ(mirrored(3, 5), 3) << "itself: skipped by the search";
}

TEST(MirrorTable, BothFinishTogether) {
  EXPECT_EQ(share_of_receiver(100, {1}, {1}, 0), 50);
  EXPECT_EQ(share_of_receiver(100, {3}, {1}, 0), 75) << "three times as fast";
  EXPECT_EQ(share_of_receiver(100, {0.5}, {1}, 0), 33) << "one competing task";
  EXPECT_EQ(share_of_receiver(0, {1}, {1}, 0), 0);
}

TEST(MirrorTable, BothHaveSortedTogether) {
  // A tenth of a ns of sorting for each unit, of the fast one's 300 that are done, too: it needs 43 + 43 * 0.1 + 30.
  const Time given = share_of_receiver(100, {1, 300}, {0.5, 100}, 0.1);
  const auto there = [](Time c) { return static_cast<double>(c) + 0.1 * static_cast<double>(300 + c); };
  const auto here = [](Time c) { return 2.0 * static_cast<double>(100 - c) + 0.1 * static_cast<double>(200 - c); };
  EXPECT_NEAR(there(given), here(given), 2.0);
  EXPECT_EQ(given, 59);
  EXPECT_LT(given, share_of_receiver(100, {1}, {0.5}, 0)) << "who has searched more sorts longer";
  EXPECT_EQ(share_of_receiver(100, {1, 5000}, {1, 0}, 0.1), 0) << "it would still sort when all is done here";
}

TEST(MirrorTable, SearchesFromTheMirroredPositionTowardsMoreThenLess) {
  StateTable table(6, {});
  for (std::int32_t r = 0; r < 6; ++r) table.announced(Rank{r}, state(100 * r), 0);
  // Two dry ranks: 0 at position 1 asks the last first, 1 at position 2 the last but one.
  table.announced(Rank{1}, state(0), 0);
  EXPECT_EQ(table.search_order(Rank{0}, 0), (std::vector{Rank{5}, Rank{4}, Rank{3}, Rank{2}, Rank{1}}));
  EXPECT_EQ(table.search_order(Rank{1}, 0), (std::vector{Rank{4}, Rank{5}, Rank{3}, Rank{2}, Rank{0}}));
}

TEST(MirrorTable, WorkShrinksBetweenAnnouncements) {
  StateTable table(2, {1, 2});
  table.announced(Rank{1}, {2, 2, 100}, 1000);
  EXPECT_EQ(table.remaining(Rank{1}, 1000), 100);
  EXPECT_EQ(table.remaining(Rank{1}, 1040), 60);
  EXPECT_EQ(table.remaining(Rank{1}, 9000), 0);
}

// ---- the protocol

TEST(Mirror, ADryRankAsksOppositeAndGoesOnWhenRefused) {
  Script s("mirror", setup(0, 4, 1));
  s.at(0, link());
  EXPECT_TRUE(s.at(0, WentIdle{}).empty()) << "nobody has shown work";
  // Rank 0 stands at 1 of 4, so it asks the last: rank 3.
  s.at(kMs, WentBusy{});
  s.at(kMs, of_10_ms(1));
  s.at(2 * kMs, from(1, state(500 * kMs)));
  s.at(2 * kMs, from(2, state(700 * kMs)));
  s.at(2 * kMs, from(3, state(900 * kMs)));
  s.at(3 * kMs, LoadChanged{{{Group{0}, 0, 0}}, {}});
  const auto next = sent<MirrorRequest>(s.at(4 * kMs, from(3, MirrorRefusal{1})));
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].first, Rank{2}) << "nobody has more: towards less";
  EXPECT_TRUE(s.at(5 * kMs, Arrived{Rank{2}, {{Group{0}, 9}}, 1}).size() > 0);
  s.expect_golden("mirror_search");
}

TEST(Mirror, TheVictimGivesByRates) {
  Script s("mirror", setup(1, 3, 1));
  s.at(0, link());
  s.at(0, WentBusy{});
  EXPECT_EQ(sent<MirrorState>(s.at(0, of_10_ms(12))).size(), 2u) << "new work is announced";
  auto shipped = all<Ship>(s.at(kMs, from(0, MirrorRequest{1, 2, 1, true})));
  ASSERT_EQ(shipped.size(), 1u);
  EXPECT_EQ(fragments(shipped[0]), 8) << "twice as fast as we: two thirds";
  s.at(kMs, Shipped{shipped[0].ticket, Rank{0}, shipped[0].fragments, 0});
  shipped = all<Ship>(s.at(2 * kMs, from(2, MirrorRequest{1, 1, 3, true})));
  ASSERT_EQ(shipped.size(), 1u);
  EXPECT_EQ(fragments(shipped[0]), 1) << "two competing tasks there: a quarter";
  s.expect_golden("mirror_gives");
}

TEST(Mirror, WhatIsPostProcessedLaterCounts) {
  Script s("mirror", setup(1, 3, 1, {{"post_processing", "0.5"}}));
  s.at(0, WentBusy{});
  s.at(0, of_10_ms(12));
  // There 10 fragments are done: 100 ms of work to be post-processed in 50 ms. Of 12, 4 bring both to 110 ms or so.
  const auto shipped = all<Ship>(s.at(kMs, from(0, MirrorRequest{1, 1, 1, true, 100 * kMs})));
  ASSERT_EQ(shipped.size(), 1u);
  EXPECT_EQ(fragments(shipped[0]), 4);
}

TEST(Mirror, BelowMinTransferItRefuses) {
  Script s("mirror", setup(1, 3, 1, {{"min_transfer", "0.05"}}));
  s.at(0, WentBusy{});
  s.at(0, of_10_ms(9));
  const Actions answer = s.at(kMs, from(0, MirrorRequest{7, 1, 1, true}));
  EXPECT_TRUE(all<Ship>(answer).empty()) << "45 ms";
  ASSERT_EQ(sent<MirrorRefusal>(answer).size(), 1u);
  EXPECT_EQ(sent<MirrorRefusal>(answer)[0].second.number, 7u);
}

TEST(Mirror, OutsideLoadSlowsARank) {
  Script s("mirror", setup(1, 2, 1));
  s.at(0, link());
  s.at(0, WentBusy{});
  s.at(0, of_10_ms(12));
  s.note("two competing tasks: this rank keeps a quarter");
  s.at(0, OutsideLoad{2});
  const auto shipped = all<Ship>(s.at(kMs, from(0, MirrorRequest{1, 1, 1, true})));
  ASSERT_EQ(shipped.size(), 1u);
  EXPECT_EQ(fragments(shipped[0]), 9);
  s.expect_golden("mirror_outside");
}

// ---- faults of the source, and what may not happen

// Two dry ranks that ask each other: both answer while they wait.
TEST(MirrorFaults, TwoThatAskEachOtherAreNotStuck) {
  Script s("mirror", setup(0, 2, 1));
  s.at(0, link());
  ASSERT_EQ(sent<MirrorRequest>(s.at(0, from(1, state(50 * kMs)))).size(), 1u);
  EXPECT_EQ(sent<MirrorRefusal>(s.at(kMs, from(1, MirrorRequest{1, 1, 1, true}))).size(), 1u);
  s.at(kMs, from(1, MirrorRefusal{1}));
  s.note("alone asleep; an announcement of work wakes it");
  EXPECT_EQ(sent<MirrorRequest>(s.at(10 * kMs, from(1, state(50 * kMs)))).size(), 1u);
  s.expect_golden("mirror_crossing");
}

TEST(MirrorFaults, OneThatFoundNobodySleepsAloneAndBacksOff) {
  Script s("mirror", setup(0, 3, 1, {{"backoff", "0.01"}}));
  s.at(0, link());
  s.at(0, from(1, state(50 * kMs)));
  EXPECT_TRUE(all<Send>(s.at(kMs, from(1, MirrorRefusal{1}))).empty()) << "no word to the others";
  const auto timers = all<SetTimer>(s.at(2 * kMs, from(1, state(60 * kMs))));
  ASSERT_EQ(timers.size(), 1u);
  EXPECT_EQ(timers[0].at, 11 * kMs);
  EXPECT_EQ(sent<MirrorRequest>(s.at(11 * kMs, TimerFired{timers[0].timer})).size(), 1u);
}

TEST(MirrorFaults, WorkThatCameByItselfIsAnnounced) {
  Script s("mirror", setup(1, 3, 1));
  s.at(0, WentBusy{});
  EXPECT_EQ(sent<MirrorState>(s.at(kS, of_10_ms(40))).size(), 2u);
  EXPECT_TRUE(sent<MirrorState>(s.at(kS + kMs, of_10_ms(41))).empty()) << "near enough";
}

TEST(MirrorFaults, ARefusedRankHearsWhenThereIsMore) {
  Script s("mirror", setup(1, 2, 1));
  s.at(0, WentBusy{});
  s.at(0, of_10_ms(3));
  s.at(kMs, LoadChanged{{{Group{0}, 1, 0}}, {}});
  EXPECT_EQ(sent<MirrorRefusal>(s.at(kMs, from(0, MirrorRequest{1, 1, 1, false}))).size(), 1u);
  // As much as was announced, but rank 0 believes there is nothing.
  EXPECT_EQ(sent<MirrorState>(s.at(10 * kMs, LoadChanged{{{Group{0}, 3, 0}}, {}})).size(), 1u);
}

TEST(MirrorFaults, TheLastFragmentGoesOnlyWhereNothingRuns) {
  Script s("mirror", setup(1, 3, 1));
  s.at(0, WentBusy{});
  s.at(0, of_10_ms(1));
  EXPECT_TRUE(all<Ship>(s.at(kMs, from(0, MirrorRequest{1, 1, 1, false}))).empty());
  EXPECT_EQ(all<Ship>(s.at(kMs, from(2, MirrorRequest{1, 1, 1, true}))).size(), 1u);
}

TEST(Mirror, QuietWithoutWork) {
  Script s("mirror", setup(1, 3, 1));
  s.at(0, link());
  EXPECT_TRUE(s.at(0, WentBusy{}).empty());
  EXPECT_TRUE(s.at(kS, WentIdle{}).empty());
  EXPECT_TRUE(s.at(2 * kS, from(0, state(0))).empty());
}

TEST(Mirror, TheSourceAnnouncesEveryPeriod) {
  Script s("mirror", setup(1, 3, 1, {{"faithful", "true"}, {"info_period", "10"}}));
  s.at(0, WentBusy{});
  const auto timers = all<SetTimer>(s.at(0, of_10_ms(40)));
  ASSERT_EQ(timers.size(), 1u);
  EXPECT_EQ(timers[0].at, 10 * kS);
  const Actions at_ten = s.at(10 * kS, TimerFired{timers[0].timer});
  EXPECT_EQ(sent<MirrorState>(at_ten).size(), 2u);
  EXPECT_EQ(all<SetTimer>(at_ten).size(), 1u);
}

// ---- ranks that leave and join

TEST(MirrorRanks, ARankThatLeavesIsNeitherAskedNorAwaited) {
  Script s("mirror", setup(0, 3, 1));
  s.at(0, link());
  s.at(0, from(1, state(50 * kMs)));
  const auto next = s.at(kMs, from(2, state(90 * kMs)));
  EXPECT_TRUE(next.empty()) << "one request at a time";
  const auto asked = sent<MirrorRequest>(s.at(2 * kMs, RankLeaving{Rank{1}}));
  ASSERT_EQ(asked.size(), 1u) << "as if it had refused";
  EXPECT_EQ(asked[0].first, Rank{2});
  EXPECT_TRUE(all<Send>(s.at(21 * kMs, RankLeaving{Rank{2}})).empty());
  EXPECT_TRUE(all<Send>(s.at(kS, WentIdle{})).empty());
}

TEST(MirrorRanks, ALeavingRankGivesAllAway) {
  Script s("mirror", setup(1, 3, 1));
  s.at(0, WentBusy{});
  s.at(0, of_10_ms(7));
  const auto shipped = all<Ship>(s.at(kMs, RankLeaving{Rank{1}}));
  ASSERT_EQ(shipped.size(), 2u);
  EXPECT_EQ(fragments(shipped[0]) + fragments(shipped[1]), 7);
  for (const Ship& ship : shipped) s.at(kMs, Shipped{ship.ticket, ship.to, ship.fragments, 0});
  EXPECT_EQ(sent<MirrorRefusal>(s.at(kMs, from(0, MirrorRequest{1, 1, 1, true}))).size(), 1u);
  EXPECT_TRUE(s.at(2 * kMs, LoadChanged{{{Group{0}, 0, 0}}, {}}).empty());
  s.expect_golden("mirror_leaving");
}

TEST(MirrorRanks, ARankThatJoinsHearsOfWork) {
  Script s("mirror", setup(1, 3, 1));
  s.at(0, RankLeaving{Rank{2}});
  s.at(0, WentBusy{});
  EXPECT_EQ(sent<MirrorState>(s.at(0, of_10_ms(40))).size(), 1u);
  EXPECT_EQ(sent<MirrorState>(s.at(20 * kMs, RankJoined{Rank{2}})).size(), 2u);
}

}  // namespace
}  // namespace tessera::balancer
