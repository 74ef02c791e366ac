// `hierarchical`: who coordinates whom, and transfers between groups as readable histories.
#include <algorithm>

#include "balancer/hierarchical/layout.hpp"
#include "balancer/simulator/workloads.hpp"
#include "script.hpp"

namespace tessera::balancer {
namespace {

TEST(Layout, EveryRankHasItsPlaceForAnyCount) {
  for (const bool colocated : {false, true}) {
    for (std::int32_t ranks = 1; ranks <= 400; ++ranks) {
      for (const std::int32_t size : {0, 2, 3, 16, 100}) {
        const Layout l = Layout::of(ranks, size, colocated);
        SCOPED_TRACE(std::to_string(ranks) + " ranks, groups of " + std::to_string(size));
        ASSERT_EQ(l.workers, colocated ? ranks : ranks - l.groups - (l.groups > 1 ? 1 : 0));
        if (l.workers < 2) continue;
        std::vector<std::int32_t> leaves;
        std::int32_t covered = 0, least = ranks, most = 0;
        for (std::int32_t g = 0; g < l.groups; ++g) {
          const Members m = l.members(g);
          ASSERT_EQ(index(m.first), covered);
          covered += m.count;
          least = std::min(least, m.count);
          most = std::max(most, m.count);
          for (std::int32_t i = 0; i < m.count; ++i) {
            ASSERT_EQ(l.group_of(m.rank(static_cast<std::size_t>(i))), g);
          }
          ASSERT_EQ(l.group_led_by(l.leaf(g)), g);
          ASSERT_TRUE(colocated ? m.has(l.leaf(g)) : index(l.leaf(g)) >= l.workers);
          leaves.push_back(index(l.leaf(g)));
        }
        ASSERT_EQ(covered, l.workers);
        ASSERT_LE(most - least, 1);
        if (size > 2) {
          ASSERT_LE(most, size);
        }
        ASSERT_EQ(std::adjacent_find(leaves.begin(), leaves.end()), leaves.end());
        if (l.has_root() && !colocated) {
          ASSERT_EQ(l.group_led_by(l.root()), -1);
        }
      }
    }
  }
}

TEST(Layout, FewRanksAreOneGroupAsInCentral) {
  for (const std::int32_t ranks : {2, 3, 5, 257}) {
    const Layout l = Layout::of(ranks, 0, false);
    EXPECT_EQ(l.groups, 1);
    EXPECT_EQ(l.workers, ranks - 1);
    EXPECT_EQ(l.leaf(0), Rank{ranks - 1});
  }
  EXPECT_EQ(Layout::of(65'536 + 257, 0, false).groups, 256);
}

// Groups {0, 1} and {2, 3}, their leaves 4 and 5, the root 6.
const Settings kOfTwo = {{"group_size", "2"}, {"plan_interval", "0"}};

TEST(Root, HasTheLoadedGroupGiveToTheOther) {
  Script s("hierarchical", setup(6, 7, 1, kOfTwo));
  s.at(0, from(5, GroupReport{0, 0, 0, 2, {}}));
  const Actions first = s.at(kMs, from(4, GroupReport{4 * kS, 3 * kS, 30, 2, {}}));
  EXPECT_TRUE(sent<GroupInvite>(first).empty()) << "two plans too soon after each other";
  const auto timers = all<SetTimer>(first);
  ASSERT_EQ(timers.size(), 1u);
  const auto invites = sent<GroupInvite>(s.at(timers[0].at, TimerFired{timers[0].timer}));
  ASSERT_EQ(invites.size(), 1u);
  EXPECT_EQ(invites[0], (std::pair{Rank{5}, GroupInvite{1, Rank{4}, 20, 100 * kMs}}));
  s.note("reports from before the transfer change nothing");
  EXPECT_TRUE(sent<GroupInvite>(s.at(kS, from(4, GroupReport{4 * kS, 3 * kS, 30, 2, {}}))).empty());
  EXPECT_TRUE(sent<GroupInvite>(s.at(kS, from(5, GroupReport{0, 0, 0, 2, {}}))).empty());
  s.note("both sides have seen it: even");
  s.at(2 * kS, from(5, GroupReport{2 * kS, 0, 0, 2, {{1, 0}}}));
  EXPECT_TRUE(sent<GroupInvite>(s.at(3 * kS, from(4, GroupReport{2 * kS, 1 * kS, 10, 2, {{1, 2 * kS}}}))).empty());
  s.expect_golden("hierarchical_root");
}

TEST(Leaf, InvitedItLetsTheMembersTakeThatRunDryFirst) {
  Script s("hierarchical", setup(5, 7, 1, kOfTwo));
  s.at(0, from(2, report({{Group{0}, 3, 0}}, {done(0, 1, 100 * kMs)})));
  const auto needs = sent<GroupNeed>(s.at(kMs, from(6, GroupInvite{7, Rank{4}, 5, 100 * kMs})));
  ASSERT_EQ(needs.size(), 1u);
  EXPECT_EQ(needs[0].first, Rank{4});
  std::int64_t count = 0;
  for (const RankCount& r : needs[0].second.receivers) count += r.count;
  EXPECT_EQ(count, 5);
  s.note("what is to be expected counts: no order within the group");
  EXPECT_TRUE(sent<Order>(s.at(2 * kMs, from(3, report({}, {}, true)))).empty());
  s.note("the worker's report may come before the news of what was sent");
  Report arrived = report({{Group{0}, 4, 0}});
  arrived.arrived = {1};
  s.at(3 * kMs, from(3, arrived));
  s.at(4 * kMs, from(4, GroupSent{7, 1, Rank{0}, Rank{3}, {{Group{0}, 4}}, 0, true}));
  s.expect_golden("hierarchical_receiving");
}

TEST(Leaf, GivesFromTheMemberThatRunsDryLast) {
  Script s("hierarchical", setup(4, 7, 1, kOfTwo));
  s.at(0, from(0, report({{Group{0}, 6, 0}}, {done(0, 1, 100 * kMs)})));
  s.at(0, from(1, report({{Group{0}, 6, 0}})));
  s.at(0, from(0, report({{Group{0}, 9, 0}})));
  const auto orders = sent<Order>(s.at(kMs, from(5, GroupNeed{7, 100 * kMs, {{Rank{3}, 4}, {Rank{2}, 1}}})));
  ASSERT_GE(orders.size(), 2u);
  EXPECT_EQ(orders[0].first, Rank{0});
  EXPECT_EQ(orders[0].second.to, Rank{3});
  EXPECT_EQ(orders[0].second.fragments, (std::vector<GroupCount>{{Group{0}, 4}}));
  s.note("the receiving leaf hears of each, and which is the last");
  const auto one =
      sent<GroupSent>(s.at(2 * kMs, from(0, Confirm{orders[0].second.ticket, Rank{3}, {{Group{0}, 3}}, 10})));
  ASSERT_EQ(one.size(), 1u);
  EXPECT_FALSE(one[0].second.last);
  EXPECT_EQ(one[0].second.fragments, (std::vector<GroupCount>{{Group{0}, 3}}));
  const auto two = sent<GroupSent>(
      s.at(3 * kMs, from(index(orders[1].first), Confirm{orders[1].second.ticket, Rank{2}, {{Group{0}, 1}}, 0})));
  ASSERT_EQ(two.size(), 1u);
  EXPECT_TRUE(two[0].second.last);
  s.expect_golden("hierarchical_giving");
}

TEST(Leaf, WithNothingToGiveTheTransferEndsAtOnce) {
  Script s("hierarchical", setup(4, 7, 1, kOfTwo));
  const auto answers = sent<GroupSent>(s.at(0, from(5, GroupNeed{7, 100 * kMs, {{Rank{3}, 4}}})));
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_TRUE(answers[0].second.last);
  EXPECT_EQ(answers[0].second.ticket, 0u);
}

TEST(Hierarchical, AForeignOrLateMessageIsNoError) {
  for (const std::int32_t rank : {0, 4, 5, 6}) {
    Script s("hierarchical", setup(rank, 7, 1, kOfTwo));
    s.at(0, from(3, report({{Group{9}, 3, 0}})));
    s.at(0, from(1, Confirm{77, Rank{1}, {{Group{0}, 5}}, 0}));
    s.at(0, from(5, GroupSent{99, 5, Rank{0}, Rank{1}, {{Group{0}, 1}}, 0, true}));
    s.at(0, from(5, GroupNeed{98, kMs, {}}));
    s.at(0, from(2, GroupReport{1, 1, 1, 1, {{55, 3}}}));
    s.at(0, from(2, StealWake{}));
    s.at(0, TimerFired{42});
    s.at(0, RankLeaving{Rank{1}});
    s.at(0, RankLeaving{Rank{2}});
  }
}

// Everything begins in one group of many.
TEST(Hierarchical, AHeapInOneGroupReachesAllOthers) {
  using namespace simulator;
  const Workload w = heap(4000, 20 * kMs, 1000);
  Options o;
  o.balancer = "hierarchical";
  o.ranks = 71;
  o.settings = {{"group_size", "10"}};
  const Outcome result = simulate(w, o);
  EXPECT_EQ(result.faults, std::vector<std::string>{});
  EXPECT_GE(result.efficiency(), 0.9);
}

}  // namespace
}  // namespace tessera::balancer
