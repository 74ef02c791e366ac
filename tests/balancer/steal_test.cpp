// `steal`: both modes as readable histories.
#include "balancer/carried.hpp"
#include "balancer/simulator/workloads.hpp"
#include "script.hpp"

namespace tessera::balancer {
namespace {

TEST(Stealer, AsksOneAtATimeAndSleepsWhenAllRefused) {
  Script s("steal", setup(0, 4, 1));
  auto asked = sent<StealRequest>(s.at(0, LinkMeasured{Rank{1}, 50'000, 1e9}));
  std::vector<bool> seen(4);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(asked.size(), 1u) << "at most one outstanding request";
    const Rank victim = asked[0].first;
    EXPECT_NE(victim, Rank{0});
    EXPECT_FALSE(seen[static_cast<std::size_t>(index(victim))]) << "every rank in turn";
    seen[static_cast<std::size_t>(index(victim))] = true;
    asked = sent<StealRequest>(s.at((i + 1) * kMs, Received{victim, StealRefuse{asked[0].second.number}}));
  }
  EXPECT_TRUE(asked.empty());
  s.note("asleep: nothing but a wake-up makes it ask");
  EXPECT_TRUE(s.at(5 * kMs, WentIdle{}).empty());
  const auto again = sent<StealRequest>(s.at(6 * kMs, from(2, StealWake{})));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].first, Rank{2});
  s.expect_golden("steal_sleep");
}

TEST(Stealer, WithPatienceMakesItselfKnownToAFewAndWaits) {
  auto of = setup(0, 8, 1, {{"patience", "0.01"}});
  of.hosts = {0, 0, 1, 1, 2, 2, 3, 3};
  Script s("steal", of);
  // Its mate is the nearest, and refuses: that is no reason to ask it again and again.
  std::vector<Rank> asked;
  auto requests = sent<StealRequest>(s.at(0, LinkMeasured{Rank{1}, 1'000, 1e9}));
  for (Time now = kMs; requests.size() == 1 && asked.size() < 20; now += 10'000) {
    asked.push_back(requests[0].first);
    requests = sent<StealRequest>(s.at(now, Received{asked.back(), StealRefuse{requests[0].second.number}}));
  }
  ASSERT_EQ(asked.size(), 4u);
  std::sort(asked.begin(), asked.end());
  EXPECT_EQ(std::unique(asked.begin(), asked.end()), asked.end());
}

TEST(Stealer, GivesHalfAndWakesThoseItRefused) {
  Script s("steal", setup(1, 4, 2));
  s.at(0, LinkMeasured{Rank{0}, 50'000, 1e9});
  s.at(0, WentBusy{});
  EXPECT_EQ(sent<StealRefuse>(s.at(kMs, from(0, StealRequest{1, true}))).size(), 1u);
  EXPECT_EQ(sent<StealRefuse>(s.at(kMs, from(2, StealRequest{1, true}))).size(), 1u);
  s.note("surplus appears: both are woken, once");
  const Actions woken = s.at(2 * kMs, LoadChanged{{{Group{0}, 10, 0}}, {done(0, 1, 20 * kMs)}});
  EXPECT_EQ(sent<StealWake>(woken).size(), 2u);
  EXPECT_TRUE(sent<StealWake>(s.at(3 * kMs, LoadChanged{{{Group{0}, 9, 0}}, {}})).empty());
  const auto shipped = all<Ship>(s.at(4 * kMs, from(0, StealRequest{2, true})));
  ASSERT_EQ(shipped.size(), 1u);
  EXPECT_EQ(shipped[0].fragments, (std::vector<GroupCount>{{Group{0}, 4}}));
  s.note("nothing could be taken after all: refused, and remembered");
  EXPECT_EQ(sent<StealRefuse>(s.at(4 * kMs, Shipped{shipped[0].ticket, Rank{0}, {}, 0})).size(), 1u);
  s.expect_golden("steal_give");
}

TEST(Stealer, AsksAVictimAgainThatGaveAfterARefusal) {
  Script s("steal", setup(1, 2, 1));
  // Little is left here: rank 0 is asked, refuses, and is asked once more when nothing runs.
  s.at(0, WentBusy{});
  const auto asked = sent<StealRequest>(s.at(0, LoadChanged{}));
  ASSERT_EQ(asked.size(), 1u);
  s.at(2 * kMs, from(0, StealRefuse{asked[0].second.number}));
  ASSERT_EQ(sent<StealRequest>(s.at(3 * kMs, WentIdle{})).size(), 1u);
  // It gives, and has forgotten the refusal; so must we, or we would run dry before asking again.
  s.at(4 * kMs, Arrived{Rank{0}, {{Group{0}, 2}}, 1});
  s.at(4 * kMs, LoadChanged{{{Group{0}, 2, 0}}, {done(0, 1, 50 * kMs)}});
  s.at(4 * kMs, WentBusy{});
  EXPECT_EQ(sent<StealRequest>(s.at(5 * kMs, LoadChanged{{{Group{0}, 0, 0}}, {}})).size(), 1u);
}

// What came is no longer ready for it has begun: it asks ahead, and does not say that nothing runs there.
TEST(Stealer, WhoHasBegunTheOnlyOneThatCameIsNotIdle) {
  Script s("steal", setup(1, 2, 1));
  s.at(0, WentIdle{});
  s.at(kMs, Arrived{Rank{0}, {{Group{0}, 1}}, 1});
  EXPECT_TRUE(s.at(2 * kMs, WentBusy{}).empty());
  const auto asked = sent<StealRequest>(s.at(2 * kMs, LoadChanged{{{Group{0}, 0, 0}}, {}}));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_FALSE(asked[0].second.idle);
}

TEST(Stealer, KeepsItsLastFragmentFromAThiefThatStillHasWork) {
  Script s("steal", setup(1, 3, 1));
  s.at(0, WentBusy{});
  s.at(0, LoadChanged{{{Group{0}, 1, 0}}, {done(0, 1, 50 * kMs)}});
  EXPECT_TRUE(all<Ship>(s.at(kMs, from(0, StealRequest{1, false}))).empty());
  EXPECT_EQ(all<Ship>(s.at(2 * kMs, from(0, StealRequest{2, true}))).size(), 1u);
}

// ... nor does it give the last one for that a crumb stays: both have crumbs, and would hand it to and fro.
TEST(Stealer, ACrumbThatStaysIsNoReasonToGiveTheLastFragment) {
  Script s("steal", setup(1, 3, 3));
  const LoadChanged one_each{{{Group{0}, 1, 0}, {Group{1}, 1, 0}, {Group{2}, 1, 0}},
                             {done(0, 1, 50 * kMs), done(1, 1, kMs / 10)}};
  s.at(0, WentBusy{});
  s.at(0, one_each);
  EXPECT_TRUE(all<Ship>(s.at(kMs, from(0, StealRequest{1, false}))).empty())
      << "group 1 is light, of group 2 nothing has run";
  s.at(2 * kMs, LoadChanged{{}, {done(2, 1, 50 * kMs)}});
  EXPECT_EQ(all<Ship>(s.at(2 * kMs, from(0, StealRequest{2, false}))).size(), 1u);
}

// Until a link is measured it may be slow. What has small inputs need not wait for that.
TEST(Stealer, GivesNothingLargeOverALinkThatIsNotMeasured) {
  for (const std::int64_t bytes : {1'000, 12'000}) {
    for (const bool known : {true, false}) {
      Script s("steal", setup(1, 3, 1));
      s.at(0, WentBusy{});
      std::vector<GroupDone> finished;
      if (known) finished.push_back(done(0, 3, 10 * kMs));
      s.at(0, LoadChanged{{{Group{0}, 100, 100 * bytes}}, finished});
      const Actions answer = s.at(kMs, from(0, StealRequest{1, true}));
      EXPECT_EQ(all<Ship>(answer).size(), bytes < 4096 ? 1u : 0u);
      EXPECT_EQ(sent<StealRefuse>(answer).size(), bytes < 4096 ? 0u : 1u);
      const Actions woken = s.at(kMs, LinkMeasured{Rank{0}, 20'000, 1e9});
      EXPECT_EQ(sent<StealWake>(woken).size(), bytes < 4096 ? 0u : 1u) << "the link is news enough";
    }
  }
}

// Rank 0 measures no link to rank 3. It is not taken for fast where those measured are slow.
TEST(Stealer, LinksThatNobodyMeasuresAreLikeTheWorst) {
  for (const double bandwidth : {1e9, 1e5}) {  // 0.12 s each, more than all that is here
    Script s("steal", setup(0, 5, 1));
    s.at(0, LinkMeasured{Rank{1}, 20'000, 1e9});
    s.at(0, LinkMeasured{Rank{2}, 20'000, bandwidth});
    s.at(0, WentBusy{});
    s.at(0, LoadChanged{{{Group{0}, 100, 100 * 12'000}}, {done(0, 20, kMs)}});
    EXPECT_EQ(all<Ship>(s.at(kMs, from(3, StealRequest{1, true}))).size(), bandwidth < 1e9 ? 0u : 1u);
  }
}

TEST(Stealer, KeepsWhatCostsMoreToMoveThanToRun) {
  Script s("steal", setup(1, 3, 1));
  s.at(0, LinkMeasured{Rank{0}, 50'000, 2e9});
  s.at(0, WentBusy{});
  s.at(0, LoadChanged{{{Group{0}, 40, 40 * 2'400'000}}, {done(0, 3, kMs)}});
  EXPECT_TRUE(all<Ship>(s.at(kMs, from(0, StealRequest{1, true}))).empty());
}

TEST(Stealer, AsksBeforeItIsEmpty) {
  Script s("steal", setup(0, 2, 1));
  s.at(0, LinkMeasured{Rank{1}, 10 * kMs, 1e9});
  s.at(0, WentBusy{});
  s.at(0, from(1, StealRefuse{1}));
  EXPECT_TRUE(sent<StealRequest>(s.at(kMs, LoadChanged{{{Group{0}, 9, 0}}, {done(0, 1, 10 * kMs)}})).empty());
  s.at(kMs, from(1, StealWake{}));
  // Two fragments of 10 ms last less than a steal over three times 10 ms of latency.
  const auto asked = sent<StealRequest>(s.at(2 * kMs, LoadChanged{{{Group{0}, 2, 0}}, {}}));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_FALSE(asked[0].second.idle);
}

// Twenty have finished, and as many are ready as before: each made one.
LoadChanged grown(std::int64_t ready) {
  return {{{Group{0}, ready, 0}}, {GroupDone{Group{0}, 20, 20'000, 20'000'000}}};
}

TEST(Stealer, CallsOthersOnceWhereFragmentsMakeOthers) {
  Script s("steal", setup(0, 9, 1));
  s.at(0, WentBusy{});
  s.at(0, LoadChanged{{{Group{0}, 30, 0}}, {}});
  std::vector<Rank> called;
  for (const auto& [to, wake] : sent<StealWake>(s.at(kMs, grown(30)))) {
    if (wake.call) called.push_back(to);
  }
  EXPECT_EQ(called, (std::vector{Rank{1}, Rank{2}, Rank{4}, Rank{8}}));
  EXPECT_TRUE(sent<StealWake>(s.at(2 * kMs, grown(30))).empty());
}

// All ask from the beginning: nobody needs to hear of it twice.
TEST(Stealer, PassesNoCallOn) {
  Script s("steal", setup(4, 9, 1));
  EXPECT_TRUE(sent<StealWake>(s.at(0, from(0, StealWake{true}))).empty());
}

TEST(Stealer, CallsNobodyToALoop) {
  Script s("steal", setup(0, 9, 1));
  s.at(0, WentBusy{});
  EXPECT_TRUE(sent<StealWake>(s.at(0, LoadChanged{{{Group{0}, 90, 0}}, {}})).empty());
  EXPECT_TRUE(sent<StealWake>(s.at(kMs, LoadChanged{{{Group{0}, 70, 0}}, {done(0, 20, kMs)}})).empty());
}

// Links of chains: each makes the next one ready. What is ready is worth moving without what it will make, although
// each takes the wire for more than half of its time.
TEST(Stealer, GivesOfPlentyWhereEachMakesTheNextOneReady) {
  Script s("steal", setup(0, 2, 1));
  s.at(0, LinkMeasured{Rank{1}, 20'000, 1e9});
  s.at(0, WentBusy{});
  s.at(0, LoadChanged{{{Group{0}, 30, 90'000'000}}, {}});
  s.at(100 * kMs, LoadChanged{{{Group{0}, 30, 90'000'000}}, {done(0, 20, 5 * kMs)}});
  EXPECT_EQ(all<Ship>(s.at(101 * kMs, from(1, StealRequest{1, true}))).size(), 1u);
}

// A microsecond each, a hundred below each: two make 0.2 ms, and a transfer takes 0.05.
TEST(Stealer, HandsNoCrumbsAround) {
  for (const std::int64_t ready : {4, 6}) {
    Script s("steal", setup(0, 2, 1));
    s.at(0, LinkMeasured{Rank{1}, 50'000, 1e9});
    s.at(0, WentBusy{});
    s.at(0, LoadChanged{{{Group{0}, ready, 0}}, {}});
    s.at(kMs, grown(ready));
    EXPECT_EQ(all<Ship>(s.at(2 * kMs, from(1, StealRequest{1, true}))).size(), ready < 6 ? 0u : 1u);
  }
}

// 10 ms each, and 1 ms on the wire: no more than the thief asks for. What costs nothing to move goes by halves.
TEST(Stealer, GivesDearInputsAsNeededOnly) {
  for (const std::int64_t bytes : {1'000'000, 1000}) {
    Script s("steal", setup(0, 2, 1));
    s.at(0, LinkMeasured{Rank{1}, 50'000, 1e9});
    s.at(0, WentBusy{});
    s.at(0, LoadChanged{{{Group{0}, 60, 60 * bytes}}, {}});
    s.at(0, LoadChanged{{{Group{0}, 40, 40 * bytes}}, {done(0, 20, 10 * kMs)}});
    const auto shipped = all<Ship>(s.at(kMs, from(1, StealRequest{1, true, 30 * kMs})));
    ASSERT_EQ(shipped.size(), 1u);
    EXPECT_EQ(shipped[0].fragments, (std::vector<GroupCount>{{Group{0}, bytes > 1000 ? 3 : 20}}));
  }
}

TEST(Stealer, SaysWhatItNeeds) {
  Script s("steal", setup(0, 2, 1));
  const auto asked = sent<StealRequest>(s.at(0, LinkMeasured{Rank{1}, 100'000, 1e9}));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].second.need, 4 * 300'000);  // four steals of three latencies
}

TEST(FaithfulStealer, OneStealableFragmentPerRequest) {
  auto two = setup(0, 3, 2, {{"faithful", "true"}});
  two.groups[1].stealable = true;
  Script s("steal", two);
  s.at(0, LoadChanged{{{Group{0}, 5, 0}, {Group{1}, 5, 0}}, {}});
  const auto shipped = all<Ship>(s.at(kMs, from(1, StealRequest{1, true})));
  ASSERT_EQ(shipped.size(), 1u);
  EXPECT_EQ(shipped[0].fragments, (std::vector<GroupCount>{{Group{1}, 1}}));
  s.at(kMs, Shipped{shipped[0].ticket, Rank{1}, {{Group{1}, 1}}, 0});
  s.note("a revoked request gets nothing");
  s.at(2 * kMs, LoadChanged{{{Group{1}, 0, 0}}, {}});
  EXPECT_TRUE(all<Ship>(s.at(3 * kMs, from(2, StealRequest{1, true}))).empty());
  s.at(4 * kMs, from(2, StealRevoke{1}));
  EXPECT_TRUE(all<Ship>(s.at(5 * kMs, LoadChanged{{{Group{1}, 4, 0}}, {}})).empty());
  s.expect_golden("steal_faithful_victim");
}

TEST(FaithfulStealer, RevokesTheOtherRequestsWhenWorkArrives) {
  Script s("steal", setup(0, 4, 1, {{"faithful", "true"}}));
  const auto asked = sent<StealRequest>(s.at(0, WentIdle{}));
  EXPECT_EQ(asked.size(), 3u) << "all others, for steal_ranks is 0";
  const auto revoked = sent<StealRevoke>(s.at(kMs, Arrived{Rank{2}, {{Group{0}, 1}}, 1}));
  ASSERT_EQ(revoked.size(), 2u);
  EXPECT_EQ(revoked[0].first, Rank{1});
  EXPECT_EQ(revoked[1].first, Rank{3});
  s.expect_golden("steal_faithful_thief");
}

TEST(FaithfulStealer, RequestsReachEveryRankInTurn) {
  Script s("steal", setup(0, 6, 1, {{"faithful", "true"}, {"steal_ranks", "2"}}));
  std::vector<int> reached(6);
  Actions actions = s.at(0, WentIdle{});
  for (int round = 0; round < 5; ++round) {
    for (const auto& [to, request] : sent<StealRequest>(actions)) ++reached[static_cast<std::size_t>(index(to))];
    const auto timers = all<SetTimer>(actions);
    if (timers.empty()) break;
    actions = s.at(timers[0].at, TimerFired{timers[0].timer});
  }
  EXPECT_EQ(reached, (std::vector<int>{0, 1, 1, 1, 1, 1}));
  EXPECT_TRUE(all<SetTimer>(actions).empty()) << "all hold a request: quiet";
}

// The public implementation: a run of `steal_ranks` ranks that begins with the asker, again and again the same.
TEST(PublishedStealer, AsksAFixedRunThatBeginsWithItself) {
  Script s("steal", setup(4, 6, 1, {{"faithful", "true"}, {"steal_ranks", "3"}, {"fixed_run", "true"}}));
  Actions actions = s.at(0, WentIdle{});
  for (Time now = kMs; now < 4 * kMs; now += kMs) {
    std::vector<Rank> asked;
    for (const auto& [to, request] : sent<StealRequest>(actions)) asked.push_back(to);
    EXPECT_EQ(asked, (std::vector<Rank>{Rank{5}, Rank{0}}));
    EXPECT_TRUE(all<SetTimer>(actions).empty()) << "it goes on to no others";
    s.at(now, Arrived{Rank{0}, {{Group{0}, 1}}, 1});
    actions = s.at(now, LoadChanged{{{Group{0}, 0, 0}}, {}});
  }
}

simulator::Outcome published(std::int32_t ranks, Settings settings) {
  settings["faithful"] = "true";
  simulator::Options o;
  o.ranks = ranks;
  o.balancer = "steal";
  o.settings = std::move(settings);
  return simulator::simulate(simulator::matrix_multiplication(), o);
}

// What is stolen goes home at once: nothing ever runs elsewhere, however much travels.
TEST(PublishedStealer, WhatIsStolenGoesHome) {
  const simulator::Outcome o = published(4, {{"goes_home", "true"}});
  EXPECT_EQ(o.faults, std::vector<std::string>{});
  EXPECT_GT(o.moved, 100);
  EXPECT_EQ(o.items, (std::vector<std::int64_t>{1200, 0, 0, 0}));
  EXPECT_GE(o.finished, 60 * kS);
  // Only where the published protocol is asked for.
  EXPECT_FALSE(sends_home(*find_policy("steal"), {{"goes_home", "true"}}));
  EXPECT_FALSE(sends_home(*find_policy("none"), {}));
}

// With a run of two each rank asks the next only: rank 0, where all is born, has one customer on any number of ranks.
TEST(PublishedStealer, AFixedRunLetsOneRankAskTheLoadedOne) {
  const Time two = published(2, {{"steal_ranks", "2"}, {"fixed_run", "true"}}).finished;
  const simulator::Outcome o = published(16, {{"steal_ranks", "2"}, {"fixed_run", "true"}});
  EXPECT_GT(o.items[15], 0);
  EXPECT_GT(o.finished, two / 3) << "seven of eight ranks have nothing to do";
  EXPECT_LT(published(16, {{"steal_ranks", "2"}}).finished, two / 4) << "in turn all of them ask";
}

TEST(None, DoesNothing) {
  Script s("none", setup(0, 4, 1));
  EXPECT_TRUE(s.at(0, LoadChanged{{{Group{0}, 100, 0}}, {}}).empty());
  EXPECT_TRUE(s.at(0, from(1, StealRequest{1, true})).empty());
}

// A line that nobody has measured may be slow: what goes over it altogether is as little as one may be.
TEST(Steal, OverALineThatIsNotMeasuredLittleGoes) {
  Script s("steal", setup(0, 2, 1));
  s.at(0, WentBusy{});
  s.at(0, LoadChanged{{{Group{0}, 100, 100 * 1000}}, {done(0, 1, 20 * kMs)}});
  const auto shipped = all<Ship>(s.at(kMs, from(1, StealRequest{1, true, 0})));
  ASSERT_EQ(shipped.size(), 1u);
  EXPECT_EQ(shipped[0].fragments, (std::vector<GroupCount>{{Group{0}, 4}}));
}

// Ten of 10 ms are worth moving to a rank as fast as this one; on one that takes 40 times as long they would be back
// after this one is done with all.
TEST(Steal, ToASlowRankGoesWhatItHasDoneInTime) {
  for (const double power : {1.0, 0.025}) {
    auto of = setup(0, 2, 1);
    of.powers = {1, power};
    Script s("steal", of);
    s.at(0, LinkMeasured{Rank{1}, kMs / 10, 1e9});
    s.at(0, WentBusy{});
    s.at(0, LoadChanged{{{Group{0}, 20, 0}}, {done(0, 5, 10 * kMs)}});
    EXPECT_EQ(all<Ship>(s.at(kMs, from(1, StealRequest{1, true, 0}))).size(), power == 1 ? 1u : 0u) << power;
  }
}

// 64 fragments read 32 values of 800 kB: half a one is said of each, but the first that goes to a rank takes two. Over
// 93 MB/s that is 17 ms for 5 ms of work: of what this rank is done with in 320 ms fewer are back in time.
TEST(Steal, WhatGoesToARankFirstTakesWhatTheFirstTookToAnother) {
  const auto given = [](std::int64_t took) {
    Script s("steal", setup(0, 3, 1));
    for (const std::int32_t r : {1, 2}) s.at(0, LinkMeasured{Rank{r}, kMs / 10, 93e6});
    s.at(0, WentBusy{});
    s.at(0, LoadChanged{{{Group{0}, 64, 32 * 800'000}}, {done(0, 5, 5 * kMs)}});
    const auto first = all<Ship>(s.at(kMs, from(1, StealRequest{1, true, 0})));
    EXPECT_EQ(first.size(), 1u);
    s.at(kMs, Shipped{first[0].ticket, Rank{1}, {{Group{0}, 1}}, took});
    s.at(kS, LoadChanged{{{Group{0}, 64, 32 * 800'000}}, {done(0, 5, 5 * kMs)}});
    const auto second = all<Ship>(s.at(kS, from(2, StealRequest{1, true, kS})));
    EXPECT_EQ(second.size(), 1u);
    return second.empty() ? 0 : second[0].fragments[0].count;
  };
  EXPECT_LT(given(1'600'000), given(400'000));
}

TEST(Carried, AsManyAsWentLastFindWhatTheyRead) {
  Carried c;
  const Rank to{1}, other{2};
  const Group g{0};
  EXPECT_EQ(c.bytes(to, g, 100, 3), 100);
  c.learn(to, g, 100, 400, 2);
  EXPECT_EQ(c.bytes(other, g, 100, 3), 400);
  for (int i = 0; i < 40; ++i) c.learn(to, g, 100, 10, 2);
  EXPECT_NEAR(c.bytes(to, g, 100, 2), 10, 0.1);
  EXPECT_NEAR(c.bytes(to, g, 100, 4), (10 + 400) / 2., 0.1);
  EXPECT_EQ(c.bytes(other, g, 100, 3), 400);
}

// Over 93 MB/s 1.6 MB and what may come back take 23 ms. What became ready here goes to be measured; what came here is
// measured here, unless that takes long.
TEST(Steal, WhatCameToBeMeasuredIsNotPassedOnAtOnce) {
  for (const bool came : {false, true}) {
    Script s("steal", setup(0, 3, 1));
    for (const std::int32_t r : {1, 2}) s.at(0, LinkMeasured{Rank{r}, kMs / 10, 93e6});
    if (came) s.at(0, Arrived{Rank{2}, {{Group{0}, 4}}, 0});
    s.at(0, WentBusy{});
    s.at(0, LoadChanged{{{Group{0}, 4, 4 * 1'600'000}}, {}});
    EXPECT_EQ(all<Ship>(s.at(kMs, from(1, StealRequest{1, true, 0}))).size(), came ? 0u : 1u);
    EXPECT_EQ(all<Ship>(s.at(25 * kMs, from(2, StealRequest{1, true, 0}))).size(), 1u);
  }
}

}  // namespace
}  // namespace tessera::balancer
