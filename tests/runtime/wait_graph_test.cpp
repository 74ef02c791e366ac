// What nothing will assign is found among all that waits.
#include "runtime/report/wait_graph.hpp"

#include <gtest/gtest.h>

namespace tessera::runtime {
namespace {

using Need = WaitingFragment::Need;

// Names are numbers here; an array is a multiple of 1000000000, an element of it is the sum of both.
constexpr std::uint64_t kNameX = 1'000'000'000, kNameY = 2'000'000'000;

struct Rank0 {
  std::vector<std::uint64_t> words;
  void add(std::vector<Need> needs, std::vector<std::uint64_t> gives, std::vector<std::uint64_t> may_give = {}) {
    WaitingFragment{std::move(needs), std::move(gives), std::move(may_give)}.write(words);
  }
};

TEST(WaitGraph, OfAChainOneIsTheCause) {
  constexpr std::uint64_t kLinks = 1'000'000;
  Rank0 even, odd;
  for (std::uint64_t i = 0; i < kLinks; ++i) (i % 2 == 0 ? even : odd).add({{kNameX + i, kNameX}}, {kNameX + i + 1});
  WaitGraph graph;
  graph.add(0, even.words);
  graph.add(1, odd.words);
  const WaitGraph::Found found = graph.find(8);
  ASSERT_EQ(found.roots.size(), 1u);
  EXPECT_EQ(found.roots[0].first, (std::vector<WaitGraph::Place>{{0, 0, kNameX}}));
  EXPECT_EQ(found.roots[0].waiting, std::int64_t{kLinks});
  EXPECT_EQ(found.more, 0);
  EXPECT_TRUE(found.circle.empty());
}

TEST(WaitGraph, WhoWaitsFirstOnEachRank) {
  Rank0 a, b;
  for (int i = 0; i < 3; ++i) a.add({{kNameX, kNameX}}, {});
  b.add({{kNameY, kNameY}}, {});
  b.add({{kNameX, kNameX}}, {});
  WaitGraph graph;
  graph.add(0, a.words);
  graph.add(3, b.words);
  const WaitGraph::Found found = graph.find(8);
  ASSERT_EQ(found.roots.size(), 2u);
  EXPECT_EQ(found.roots[0].first, (std::vector<WaitGraph::Place>{{0, 0, kNameX}, {3, 1, kNameX}}))
      << "most wait for it";
  EXPECT_EQ(found.roots[0].waiting, 4);
  EXPECT_EQ(found.roots[1].first, (std::vector<WaitGraph::Place>{{3, 0, kNameY}}));
}

// An `if` that waits for y may assign x[3] or not; it is not what should be looked at.
TEST(WaitGraph, WhatMayBeAssignedIsBehindWhatKeepsThatWaiting) {
  Rank0 r;
  r.add({{kNameX + 3, kNameX}}, {});
  r.add({{kNameY, kNameY}}, {}, {kNameX, kNameY});
  WaitGraph graph;
  graph.add(0, r.words);
  const WaitGraph::Found found = graph.find(8);
  ASSERT_EQ(found.roots.size(), 1u);
  EXPECT_EQ(found.roots[0].first[0].name, kNameY);
  EXPECT_EQ(found.roots[0].waiting, 2) << "also who waits for an element of what may be assigned";
}

TEST(WaitGraph, OneThatMayAssignWhatItWaitsForIsNoHelp) {
  Rank0 r;
  r.add({{kNameX + 1, kNameX}}, {}, {kNameX});
  WaitGraph graph;
  graph.add(0, r.words);
  ASSERT_EQ(graph.find(8).roots.size(), 1u);
}

TEST(WaitGraph, ACircle) {
  Rank0 r;
  r.add({{5, 5}}, {6});  // behind it
  r.add({{1, 1}}, {2});
  r.add({{2, 2}}, {3});
  r.add({{3, 3}}, {1, 5});
  WaitGraph graph;
  graph.add(2, r.words);
  const WaitGraph::Found found = graph.find(8);
  EXPECT_TRUE(found.roots.empty());
  EXPECT_EQ(found.circle, (std::vector<WaitGraph::Place>{{2, 3, 3}, {2, 2, 2}, {2, 1, 1}}));
  EXPECT_EQ(found.behind, 4);
}

TEST(WaitGraph, TheEndOfABlockIsNoCause) {
  Rank0 r;
  r.add({{7, 7}}, {8});  // waits until a block has ended
  r.add({{8, 8}}, {});
  r.add({{kNameX, kNameX}}, {});  // is in it
  WaitGraph graph;
  graph.add(0, r.words);
  graph.add_end(7);
  const WaitGraph::Found found = graph.find(8);
  ASSERT_EQ(found.roots.size(), 1u);
  EXPECT_EQ(found.roots[0].first[0].name, kNameX);
  EXPECT_TRUE(found.circle.empty());
}

TEST(WaitGraph, ShowsSoManyAndCountsTheRest) {
  Rank0 r;
  for (std::uint64_t i = 0; i < 20; ++i) r.add({{kNameX + i, kNameX}}, {});
  WaitGraph graph;
  graph.add(0, r.words);
  const WaitGraph::Found found = graph.find(8);
  EXPECT_EQ(found.roots.size(), 8u);
  EXPECT_EQ(found.roots[0].first[0].fragment, 0u);
  EXPECT_EQ(found.more, 12);
}

// While it runs: an `if` that waits may assign x[3], too, but it is known who does.
TEST(WaitGraph, WhatSomebodyMakesComesFirstWhileItRuns) {
  Rank0 r;
  r.add({{kNameX + 3, kNameX}}, {kNameX + 4});
  r.add({{kNameX + 4, kNameX}}, {});
  r.add({{kNameY, kNameY}}, {}, {kNameX, kNameY});
  WaitGraph graph;
  graph.add(0, r.words);
  graph.add_given(kNameX + 3);
  const WaitGraph::Found found = graph.find_while_running(8);
  ASSERT_EQ(found.roots.size(), 2u);
  EXPECT_EQ(found.roots[0].first[0].name, kNameX + 3);
  EXPECT_EQ(found.roots[0].waiting, 2);
  EXPECT_EQ(found.roots[1].first[0].name, kNameY);
}

TEST(WaitGraph, WhatMostWaitForComesFirst) {
  Rank0 r;
  r.add({{kNameY, kNameY}}, {});
  for (int i = 0; i < 3; ++i) r.add({{kNameX, kNameX}}, {});
  WaitGraph graph;
  graph.add(0, r.words);
  EXPECT_EQ(graph.find(8).roots.at(0).first[0].name, kNameX);
}

// Who waits for each other now may get it from somebody who is in no list.
TEST(WaitGraph, NobodyIsInACircleWhileItRuns) {
  Rank0 r;
  r.add({{kNameX, kNameX}}, {}, {kNameY});
  r.add({{kNameY, kNameY}}, {}, {kNameX});
  WaitGraph graph;
  graph.add(0, r.words);
  EXPECT_TRUE(graph.find_while_running(8).circle.empty());
  Rank0 sure;
  sure.add({{kNameX, kNameX}}, {kNameY});
  sure.add({{kNameY, kNameY}}, {kNameX});
  WaitGraph other;
  other.add(0, sure.words);
  EXPECT_TRUE(other.find_while_running(8).circle.empty());
}

}  // namespace
}  // namespace tessera::runtime
