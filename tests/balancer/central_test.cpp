// `central`: the coordinator's and the worker's behaviour as readable histories.
#include <algorithm>

#include "balancer/central/cluster_view.hpp"
#include "script.hpp"

namespace tessera::balancer {
namespace {

// The source as it was: its planner, its thresholds.
const Settings kSource = {
    {"planner", "mean"},      {"faithful", "true"},   {"jobs_left_threshold", "1"}, {"jobs_difference_ratio", "0"},
    {"transfer_margin", "1"}, {"weight_memory", "0"}, {"plan_interval", "0"}};

// Loads 50/20/20/10 s of fragments of 8, 4 and 1 s; weights are known from one completion of each.
Actions golden_loads(Script& s) {
  const auto weights = std::vector<GroupDone>{done(0, 1, 8 * kS), done(1, 1, 4 * kS), done(2, 1, kS)};
  s.at(0, from(1, report({{Group{1}, 5, 0}}, {}, true)));
  s.at(0, from(2, report({{Group{1}, 5, 0}}, {}, true)));
  s.at(0, from(3, report({{Group{2}, 10, 0}}, {}, true)));
  return s.at(kMs, from(0, report({{Group{0}, 5, 0}, {Group{1}, 2, 0}, {Group{2}, 2, 0}}, weights, true)));
}

TEST(Coordinator, GoldenExampleOfTheSource) {
  // The thresholds keep it silent while weights are unknown (nothing is above a second).
  Script s("central", setup(4, 5, 3, kSource));
  const Actions actions = golden_loads(s);
  const auto orders = sent<Order>(actions);
  ASSERT_EQ(orders.size(), 2u);
  EXPECT_EQ(orders[0], (std::pair{Rank{0}, Order{1, Rank{3}, {{Group{0}, 1}, {Group{1}, 1}, {Group{2}, 2}}}}));
  EXPECT_EQ(orders[1], (std::pair{Rank{0}, Order{2, Rank{1}, {{Group{1}, 1}}}}));
  s.note("not all confirmed: no new plan (rebalance_count)");
  EXPECT_TRUE(sent<Order>(s.at(2 * kMs, from(0, Confirm{1, Rank{3}, orders[0].second.fragments, 0}))).empty());
  s.note("all confirmed, 32/24/20/24: the source leaves it at that");
  EXPECT_TRUE(sent<Order>(s.at(3 * kMs, from(0, Confirm{2, Rank{1}, {{Group{1}, 1}}, 0}))).empty());
  s.expect_golden("central_mean");
}

TEST(Coordinator, MakespanEndsBeforeTheSource) {
  Settings settings = kSource;
  settings["planner"] = "makespan";
  Script s("central", setup(4, 5, 3, settings));
  constexpr std::int64_t kSeconds[] = {8, 4, 1};
  std::vector<std::int64_t> loads = {50, 20, 20, 10};
  for (const auto& [from, order] : sent<Order>(golden_loads(s))) {
    for (const GroupCount& f : order.fragments) {
      loads[static_cast<std::size_t>(index(from))] -= f.count * kSeconds[index(f.group)];
      loads[static_cast<std::size_t>(index(order.to))] += f.count * kSeconds[index(f.group)];
    }
  }
  EXPECT_EQ(*std::max_element(loads.begin(), loads.end()), 25);  // the source: 32
  s.expect_golden("central_makespan");
}

TEST(Coordinator, TooLittleLeftIsSaidOnce) {
  Script s("central", setup(2, 3, 1, {{"jobs_left_threshold", "1"}, {"plan_interval", "0"}}));
  const auto said = all<Decide>(s.at(0, from(0, report({{Group{0}, 9, 0}}, {done(0, 1, 100 * kMs)}))));
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].why, "too little work left");
  EXPECT_TRUE(all<Decide>(s.at(kMs, from(0, report({{Group{0}, 8, 0}})))).empty());
  EXPECT_EQ(sent<Order>(s.at(2 * kMs, from(0, report({{Group{0}, 40, 0}})))).size(), 1u);
}

TEST(Coordinator, TransferThatCostsMoreThanItSavesIsRefused) {
  Script s("central", setup(2, 3, 1));
  s.at(0, from(0, LinkReport{Rank{-1}, 20'000, 2.4e9}));
  const Actions actions = s.at(kMs, from(0, report({{Group{0}, 49, 49 * 2'400'000}}, {done(0, 3, kMs)})));
  EXPECT_TRUE(sent<Order>(actions).empty());
  ASSERT_EQ(all<Decide>(actions).size(), 1u);
  EXPECT_EQ(all<Decide>(actions)[0].why, "transfer costs more than it saves");
  s.expect_golden("central_refused");
}

// Until a link is measured it may be slow. What has small inputs need not wait for that.
TEST(Coordinator, NothingLargeMovesOverALinkThatIsNotMeasured) {
  for (const std::int64_t bytes : {1'000, 12'000}) {
    Script s("central", setup(2, 3, 1));
    const auto before = sent<Order>(s.at(0, from(0, report({{Group{0}, 100, 100 * bytes}}, {done(0, 3, 10 * kMs)}))));
    EXPECT_EQ(before.size(), bytes < 4096 ? 1u : 0u);
    const auto after = sent<Order>(s.at(kMs, from(0, LinkReport{Rank{-1}, 20'000, 1e9})));
    EXPECT_EQ(after.size(), bytes < 4096 ? 0u : 1u) << "the link is news enough";
  }
}

// Each is small, all together are not.
TEST(Coordinator, NorDoesMuchThatIsSmall) {
  Script s("central", setup(2, 3, 1));
  const auto ordered = sent<Order>(s.at(0, from(0, report({{Group{0}, 100, 100'000}}, {done(0, 3, 10 * kMs)}))));
  ASSERT_EQ(ordered.size(), 1u);
  EXPECT_EQ(ordered[0].second.fragments, (std::vector<GroupCount>{{Group{0}, 4}}));
}

// It ran first where it was sent to be measured. Its rank has seen none of it end, and reports only inputs.
TEST(Coordinator, WhatOneMadeElsewhereTheOthersWillMake) {
  for (const std::int64_t made : {1'000, 10'000'000}) {
    Script s("central", setup(2, 3, 1));
    s.at(0, from(0, LinkReport{Rank{-1}, 20'000, 1e9}));
    EXPECT_EQ(sent<Order>(s.at(0, from(0, report({{Group{0}, 100, 0}})))).size(), 1u);
    s.at(0, from(0, Confirm{1, Rank{1}, {{Group{0}, 1}}, 0}));
    GroupDone first = done(0, 1, 5 * kMs);
    first.bytes = made;
    Report back = report({{Group{0}, 0, 0}}, {first}, true);
    back.arrived = {1};
    EXPECT_EQ(sent<Order>(s.at(kMs, from(1, back))).size(), made < 1'000'000 ? 1u : 0u);
  }
}

// One for each idle thread: what they weigh, and what they produce, shows when the first one ends.
TEST(Coordinator, FragmentsOfUnknownWeightKeepIdleRanksBusyAtOnce) {
  Script s("central", setup(4, 5, 1));
  s.at(0, from(0, LinkReport{Rank{-1}, 20'000, 2e9}));
  const auto orders = sent<Order>(s.at(0, from(0, report({{Group{0}, 100, 0}}))));
  ASSERT_EQ(orders.size(), 3u);
  for (const auto& [to, order] : orders) EXPECT_EQ(order.fragments, (std::vector<GroupCount>{{Group{0}, 1}}));
}

// A few tell what one weighs. The rest goes by plan then, which waits for nothing; or, while nobody knows, to twice as
// many ranks every 2 ms, without a report.
TEST(Coordinator, AFewMeasureFirst) {
  for (const bool known : {true, false}) {
    Script s("central", setup(20, 21, 1));
    s.at(0, from(0, LinkReport{Rank{-1}, 20'000, 2e9}));
    const Actions first_few = s.at(0, from(0, report({{Group{0}, 1000, 0}})));
    EXPECT_EQ(sent<Order>(first_few).size(), 8u);
    if (!known) {
      EXPECT_EQ(all<SetTimer>(first_few).size(), 1u);
      EXPECT_TRUE(sent<Order>(s.at(kMs, from(0, report({{Group{0}, 992, 0}})))).empty());
      const Actions more = s.at(2 * kMs, TimerFired{all<SetTimer>(first_few)[0].timer});
      EXPECT_EQ(sent<Order>(more).size(), 8u);
      EXPECT_EQ(sent<Order>(s.at(4 * kMs, TimerFired{all<SetTimer>(more)[0].timer})).size(), 3u);
      continue;
    }
    for (std::int32_t to = 1; to <= 8; ++to)
      s.at(kMs / 20, from(0, Confirm{static_cast<std::uint64_t>(to), Rank{to}, {{Group{0}, 1}}, 0}));
    Report first = report({{Group{0}, 0, 0}}, {done(0, 1, kMs)}, true);
    first.arrived = {1};
    const auto orders = sent<Order>(s.at(kMs / 10, from(1, first)));
    EXPECT_EQ(orders.size(), 19u);
    for (const auto& [to, order] : orders) EXPECT_GT(order.fragments[0].count, 40);
  }
}

// What they produce nobody knows: over a slow line one waits until it weighs enough for that, over one that may be slow
// for the measurement.
TEST(Coordinator, SlowLinesAreNotFilledByMeasuring) {
  Script s("central", setup(20, 21, 1));
  const Actions unmeasured = s.at(0, from(0, report({{Group{0}, 1000, 0}})));
  EXPECT_TRUE(sent<Order>(unmeasured).empty());
  const auto latest = [](const Actions& actions) {
    SetTimer last{};
    for (const SetTimer& t : all<SetTimer>(actions)) last = t.at > last.at ? t : last;
    return last;
  };
  EXPECT_EQ(latest(unmeasured).at, 50 * kMs);
  const Actions slow = s.at(kMs, from(0, LinkReport{Rank{-1}, 100'000, 12.5e6}));
  EXPECT_TRUE(sent<Order>(slow).empty());
  const Time at = latest(slow).at;  // when they have weighed about half a megabyte
  EXPECT_GT(at, 30 * kMs);
  EXPECT_LT(at, 50 * kMs);
  EXPECT_EQ(sent<Order>(s.at(at, TimerFired{latest(slow).timer})).size(), 1u);
}

// The line of rank 0 takes four in its window: who starves then is not put in a queue behind them, but may ask others.
TEST(Coordinator, AFullLineGetsNoMore) {
  Script s("central", setup(20, 21, 1));
  s.at(0, from(0, LinkReport{Rank{-1}, 20'000, 2e9}));
  const auto orders = sent<Order>(s.at(0, from(0, report({{Group{0}, 100, 1'000'000'000}}, {done(0, 3, kS)}))));
  EXPECT_EQ(orders.size(), 4u);
}

std::int64_t ordered(const Actions& actions) {
  std::int64_t sum = 0;
  for (const auto& [from, order] : sent<Order>(actions)) {
    for (const GroupCount& f : order.fragments) sum += f.count;
  }
  return sum;
}

// They have arrived, but what they produce, 1 ms of the line each, is yet to come back. The rest waits until there is
// room, and is thought of then although nobody reports.
TEST(Coordinator, WhatShortFragmentsProduceTakesTheLineAsWell) {
  Script s("central", setup(40, 41, 1));
  s.at(0, from(0, LinkReport{Rank{-1}, 20'000, 1e9}));
  const Actions first = s.at(0, from(0, report({{Group{0}, 1000, 1'000'000'000}}, {done(0, 3, 3 * kMs)})));
  EXPECT_EQ(ordered(first), 20);
  for (const auto& [rank, order] : sent<Order>(first)) {
    s.at(kMs / 10, from(0, Confirm{order.ticket, order.to, order.fragments, 1'000'000}));
    Report arrived = report({}, {}, true);
    arrived.arrived = {order.ticket};
    s.at(kMs / 10, from(index(order.to), arrived));
  }
  const Actions soon = s.at(2 * kMs, from(0, report({{Group{0}, 980, 980'000'000}})));
  EXPECT_LE(ordered(soon), 2);
  ASSERT_EQ(all<SetTimer>(soon).size(), 1u);
  const Time at = all<SetTimer>(soon)[0].at;
  EXPECT_GT(at, 5 * kMs);
  EXPECT_LT(at, 20 * kMs);
  EXPECT_GT(ordered(s.at(at, TimerFired{all<SetTimer>(soon)[0].timer})), 5);
}

// Rank 0 has run none and does not know what they produce. The rank that has run some says so, before the rest is sent
// out.
TEST(Coordinator, WhatFragmentsProduceIsHeardFromWhoRanThem) {
  Script s("central", setup(40, 41, 1));
  s.at(0, from(0, LinkReport{Rank{-1}, 20'000, 1e9}));
  s.at(0, from(0, report({{Group{0}, 1000, 0}})));
  GroupDone some = done(0, 3, 3 * kMs);
  some.bytes = 3 * 1'000'000;
  const std::int64_t rest = ordered(s.at(3 * kMs, from(1, report({}, {some}, true))));
  EXPECT_GT(rest, 10);
  EXPECT_LE(rest, 20) << "20 ms of its line";
}

TEST(Coordinator, UnknownWeightsWithHeavyInputsAreProbed) {
  Script s("central", setup(4, 5, 1));
  s.at(0, from(0, LinkReport{Rank{-1}, 20'000, 2e9}));
  const auto orders = sent<Order>(s.at(0, from(0, report({{Group{0}, 100, 200'000'000}}))));
  ASSERT_EQ(orders.size(), 3u);
  for (const auto& [to, order] : orders) EXPECT_EQ(order.fragments, (std::vector<GroupCount>{{Group{0}, 1}}));
  EXPECT_TRUE(sent<Order>(s.at(kMs, from(0, report({{Group{0}, 99, 198'000'000}})))).empty());
}

// A report sent before the order was carried out still counts what is to go; it must not be planned
// away a second time.
TEST(Coordinator, AReportThatCrossesAnOrderCountsNothingTwice) {
  Script s("central", setup(2, 3, 1, {{"plan_interval", "0"}}));
  const auto first = sent<Order>(s.at(0, from(0, report({{Group{0}, 10, 0}}, {done(0, 1, 100 * kMs)}))));
  ASSERT_EQ(first.size(), 1u);
  const auto moved = first[0].second.fragments;
  s.note("crossed on the way: still ten");
  EXPECT_TRUE(sent<Order>(s.at(kMs, from(0, report({{Group{0}, 10, 0}})))).empty());
  EXPECT_TRUE(sent<Order>(s.at(2 * kMs, from(0, Confirm{1, Rank{1}, moved, 0}))).empty());
  s.note("the receiver has them; all is even");
  Report arrived = report({{Group{0}, moved[0].count - 1, 0}});
  arrived.arrived = {1};
  EXPECT_TRUE(sent<Order>(s.at(3 * kMs, from(1, arrived))).empty());
  s.expect_golden("central_crossing");
}

TEST(Coordinator, APartialShipmentCorrectsTheView) {
  Script s("central", setup(2, 3, 1, {{"plan_interval", "0"}}));
  s.at(0, from(0, report({{Group{0}, 10, 0}}, {done(0, 1, 100 * kMs)})));
  s.note("only one was left: the others had run meanwhile");
  EXPECT_TRUE(sent<Order>(s.at(kMs, from(0, Confirm{1, Rank{1}, {{Group{0}, 1}}, 0}))).empty());
  s.note("nothing was left: the receiver waits for nothing");
  s.at(2 * kMs, from(0, report({{Group{0}, 10, 0}})));
  s.at(3 * kMs, from(0, Confirm{2, Rank{1}, {}, 0}));
  EXPECT_EQ(sent<Order>(s.at(4 * kMs, from(0, report({{Group{0}, 10, 0}})))).size(), 1u);
}

// What really travelled is a tenth more than was reported. Orders under way were all planned before that was known:
// each says so, and it is still a tenth. (Taken for a correction of a correction, it rose until nothing was worth its
// transfer.)
TEST(ClusterView, BytesOfOrdersUnderWayAreLearnedOnce) {
  ClusterView view(Weights({GroupInfo{}}, 0), {GroupInfo{}}, Members{Rank{0}, 2});
  view.report(0, Rank{0}, report({{Group{0}, 100, 100'000}}));
  for (std::uint64_t ticket = 1; ticket <= 40; ++ticket) {
    view.ordered(ticket, Rank{0}, Rank{1}, {{Group{0}, 1}}, 1000);
  }
  for (std::uint64_t ticket = 1; ticket <= 40; ++ticket) {
    view.confirmed({ticket, Rank{1}, {{Group{0}, 1}}, 1100});
  }
  EXPECT_NEAR(static_cast<double>(view.bytes_each(Group{0}, 1000)), 1100, 2);
}

// Ten went to rank 1 and found there what they read; one went to rank 2 and did not.
TEST(ClusterView, WhatFragmentsTakeAlongIsKnownByRank) {
  ClusterView view(Weights({GroupInfo{}}, 0), {GroupInfo{}}, Members{Rank{0}, 4});
  view.report(0, Rank{0}, report({{Group{0}, 100, 100'000}}));
  view.ordered(1, Rank{0}, Rank{2}, {{Group{0}, 1}}, 1000);
  view.confirmed({1, Rank{2}, {{Group{0}, 1}}, 1000});
  for (std::uint64_t ticket = 2; ticket <= 40; ++ticket) {
    view.ordered(ticket, Rank{0}, Rank{1}, {{Group{0}, 10}}, 10'000);
    view.confirmed({ticket, Rank{1}, {{Group{0}, 10}}, 500});
  }
  view.report(0, Rank{0}, report({{Group{0}, 100, 100'000}}));
  const std::vector<Load> loads = view.loads(0);
  const GroupWork* work = loads[0].find(Group{0});
  ASSERT_NE(work, nullptr);
  const auto bytes = [&](int to, std::int64_t n) { return static_cast<double>(view.bytes_to(Rank{to}, *work, n)); };
  const double few = bytes(1, 10);
  EXPECT_LT(few, 1000);
  EXPECT_EQ(view.usual_count(Rank{1}, Group{0}), 10);
  EXPECT_NEAR(bytes(1, 30) - few, 20'000, 6'000) << "more than went there last bring what they read";
  EXPECT_NEAR(bytes(2, 10), 10'000, 3'000);
  EXPECT_NEAR(bytes(3, 10), 10'000, 3'000) << "nothing has gone there";
}

// Known speeds count from the first plan on; measured ones replace them where they leave no doubt.
TEST(ClusterView, PowersAreSpeedsUntilMeasured) {
  ClusterView view(Weights({GroupInfo{}}, 0), {GroupInfo{}}, Members{Rank{0}, 3}, {2, 1, 1});
  const auto capacities = [&] {
    std::vector<double> all;
    for (const Load& l : view.loads(0)) all.push_back(l.capacity);
    return all;
  };
  EXPECT_EQ(capacities(), (std::vector{1.0, 0.5, 0.5}));
  for (int i = 0; i < 10; ++i) {  // rank 2 takes twice as long as rank 1
    Report r = report({});
    r.finished = {done(0, 10, kMs)};
    view.report(0, Rank{0}, r);
    r.finished = {done(0, 10, 2 * kMs)};
    view.report(0, Rank{1}, r);
    r.finished = {done(0, 10, 4 * kMs)};
    view.report(0, Rank{2}, r);
  }
  const std::vector<double> measured = capacities();
  EXPECT_LT(measured[2], 0.6 * measured[1]);
}

TEST(Coordinator, ALeavingRankReceivesNothing) {
  Script s("central", setup(3, 4, 1));
  s.at(0, from(0, LinkReport{Rank{-1}, 20'000, 2e9}));
  s.at(0, RankLeaving{Rank{1}});
  const auto orders = sent<Order>(s.at(kMs, from(0, report({{Group{0}, 100, 0}}))));
  ASSERT_EQ(orders.size(), 1u);
  EXPECT_EQ(orders[0].second.to, Rank{2});
}

TEST(Coordinator, AForeignOrLateMessageIsNoError) {
  Script s("central", setup(2, 3, 1));
  s.at(0, from(0, Confirm{77, Rank{1}, {{Group{0}, 5}}, 0}));
  Report r = report({{Group{9}, 3, 0}});
  r.arrived = {99};
  s.at(0, from(1, r));
  s.at(0, from(1, StealWake{}));
  s.at(0, TimerFired{42});
}

TEST(CentralWorker, OneReportInFlightAndChangesTogether) {
  Script s("central", setup(0, 3, 2));
  const Actions first = s.at(0, LoadChanged{{{Group{0}, 100, 0}}, {}});
  ASSERT_EQ(sent<Report>(first).size(), 1u);
  s.note("a second one waits for ReportSeen, however much changes");
  EXPECT_TRUE(s.at(kMs, LoadChanged{{{Group{0}, 300, 0}, {Group{1}, 7, 70}}, {done(0, 3, kMs)}}).empty());
  EXPECT_TRUE(s.at(2 * kMs, LoadChanged{{{Group{0}, 299, 0}}, {done(0, 1, kMs)}}).empty());
  const auto second = sent<Report>(s.at(3 * kMs, Received{Rank{2}, ReportSeen{}}));
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].second.ready, (std::vector<GroupLoad>{{Group{0}, 299, 0}, {Group{1}, 7, 70}}));
  EXPECT_EQ(second[0].second.finished[0].count, 4);
  s.note("a small change waits for the delay, then goes by timer");
  s.at(4 * kMs, Received{Rank{2}, ReportSeen{}});
  const Actions small = s.at(5 * kMs, LoadChanged{{{Group{0}, 298, 0}}, {done(0, 1, kMs)}});
  ASSERT_EQ(all<SetTimer>(small).size(), 1u);
  EXPECT_EQ(sent<Report>(s.at(all<SetTimer>(small)[0].at, TimerFired{1})).size(), 1u);
  s.expect_golden("central_worker");
}

TEST(CentralWorker, TheFirstCompletionOfWhatWasOrderedWaitsForNothing) {
  Script s("central", setup(0, 3, 1));
  s.at(0, Arrived{Rank{1}, {{Group{0}, 1}}, 5});
  EXPECT_EQ(sent<Report>(s.at(0, LoadChanged{{{Group{0}, 0, 0}}, {}})).size(), 0u) << "one is under way";
  s.at(kMs / 20, Received{Rank{2}, ReportSeen{}});
  const auto measured = sent<Report>(s.at(kMs / 10, LoadChanged{{}, {done(0, 1, kMs / 100)}}));
  ASSERT_EQ(measured.size(), 1u);
  EXPECT_EQ(measured[0].second.finished[0].count, 1);
  s.at(kMs / 5, Received{Rank{2}, ReportSeen{}});
  EXPECT_TRUE(sent<Report>(s.at(kMs / 4, LoadChanged{{}, {done(0, 1, kMs / 100)}})).empty()) << "its weight is known";
}

TEST(CentralWorker, CarriesOutAnOrderAndConfirmsWhatReallyWent) {
  Script s("central", setup(0, 3, 1));
  s.at(0, LoadChanged{{{Group{0}, 100, 0}}, {}});
  const Actions order = s.at(kMs, Received{Rank{2}, Order{5, Rank{1}, {{Group{0}, 40}}}});
  ASSERT_EQ(all<Ship>(order).size(), 1u);
  const auto confirm = sent<Confirm>(s.at(kMs, Shipped{5, Rank{1}, {{Group{0}, 38}}, 1234}));
  ASSERT_EQ(confirm.size(), 1u);
  EXPECT_EQ(confirm[0], (std::pair{Rank{2}, Confirm{5, Rank{1}, {{Group{0}, 38}}, 1234}}));
  s.expect_golden("central_order");
}

TEST(CentralWorker, GroupsNotWorthMovingAreOneNumber) {
  auto with_profile = setup(0, 3, 2);
  with_profile.groups[0].never_moved = true;
  with_profile.groups[0].profile_count = 10;
  with_profile.groups[0].profile_weight = 2 * kMs;
  Script s("central", with_profile);
  const auto r = sent<Report>(s.at(0, LoadChanged{{{Group{0}, 50, 0}, {Group{1}, 3, 0}}, {done(0, 1, 2 * kMs)}}));
  ASSERT_EQ(r.size(), 1u);
  EXPECT_EQ(r[0].second.ready, (std::vector<GroupLoad>{{Group{1}, 3, 0}}));
  EXPECT_TRUE(r[0].second.finished.empty());
  EXPECT_EQ(r[0].second.unmoved, 100 * kMs);
}

TEST(Central, ALonelyWorkerIsSilent) {
  for (const auto& alone :
       {setup(0, 1, 1), setup(0, 2, 1), setup(1, 2, 1), setup(0, 1, 1, {{"coordinator", "colocated"}})}) {
    Script s("central", alone);
    EXPECT_TRUE(s.at(0, LoadChanged{{{Group{0}, 100, 0}}, {}}).empty());
    EXPECT_TRUE(s.at(0, WentIdle{}).empty());
  }
}

TEST(Central, AColocatedCoordinatorHearsItsOwnWorkerWithoutMessages) {
  Script s("central", setup(1, 2, 1, {{"coordinator", "colocated"}}));
  s.at(0, LinkMeasured{Rank{0}, 20'000, 2e9});
  const Actions actions = s.at(0, LoadChanged{{{Group{0}, 100, 0}}, {}});
  ASSERT_EQ(all<Ship>(actions).size(), 1u);
  EXPECT_EQ(all<Ship>(actions)[0].to, Rank{0});
  EXPECT_TRUE(all<Send>(actions).empty());
}

}  // namespace
}  // namespace tessera::balancer
